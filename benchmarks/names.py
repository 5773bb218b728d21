"""Brands that the synthetic clips of the manifest say, by language, and syllables to make names like them of."""

BRANDS = {
    "en": ("Zephyra", "Klarvio", "Nubrisk", "Quorlex", "Tavellin", "Brightomo"),
    "ko": ("누브리스크", "클라비오", "제피라", "타벨린", "브라이토모"),
    "ja": ("ヌブリスク", "クラビオ", "ゼフィラ", "タベリン", "ブライトモ"),
    "zh": ("努布里斯", "克拉维欧", "泽菲拉", "塔维林", "布莱托莫"),
}
SYLLABLES = {
    "ko": "가나다라마바사아자카타파하고노도로모보소오조코토포호구누두루무부수우주푸후기니디리미비시이지키티히스르크트",
    "ja": "アイウエオカキクケコサシスセソタトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワンガギグゲゴザジゼゾ",
    "zh": "阿布克达尔菲格哈伊杰卡拉莫纳奥帕里斯塔维沃森林德莱托欧泽努瑞玛罗科特曼宁顿丽雅诺",
}
