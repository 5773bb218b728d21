// The cases on standard input, run by OpenAI's client for Node against the server of the first argument. Out: one
// plain result a case on standard output, of the shape that tests/e2e/openai_suite.py describes.
import fs from "node:fs";
import { File } from "node:buffer";
import OpenAI from "openai";

globalThis.File ??= File; // Node 18 has it, but not yet as a global

async function call(client, url, each) {
  if (each.call === "models") {
    const value = [];
    for await (const model of client.models.list()) value.push(model);
    return { value };
  }
  if (each.call === "get") return { value: await client.get(url + each.path) };
  const file = fs.createReadStream(each.path_of_file);
  const body = { model: "whisper-1", ...each.params, ...each.extra, file };
  const { data, response } = await client.audio[each.call].create(body, { headers: each.headers }).withResponse();
  const headers = Object.fromEntries(response.headers);
  if (!body.stream) return { value: data, headers };
  const events = [];
  for await (const event of data) events.push(event);
  const deltas = events.filter((event) => event.type === "transcript.text.delta").map((event) => event.delta);
  return { value: events.at(-1), deltas, headers };
}

async function run(url, each) {
  let calls = 0;
  const counted = (address, options) => {
    if (String(address).startsWith("http")) calls++; // it also asks fetch for a data: address, to learn what it can do
    return fetch(address, options);
  };
  const retries = "retries" in each ? { maxRetries: each.retries } : {};
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: each.key ?? "none", fetch: counted, ...retries });
  try {
    return { ...(await call(client, url, each)), calls };
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    const { status, code, param, type, message } = error;
    return { error: { class: error.constructor.name, status, code, param, type, message }, calls };
  }
}

const results = {};
for (const each of JSON.parse(fs.readFileSync(0, "utf8"))) results[each.name] = await run(process.argv[2], each);
process.stdout.write(JSON.stringify(results));
