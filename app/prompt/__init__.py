"""The prompt as a budgeted data structure: count, plan, render."""
