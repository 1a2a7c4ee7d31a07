# ruff: noqa: E501  -- one case a line reads better than ten
"""Thirty more truthful runs and thirty more lying ones, in both languages, each of another kind than `verify_cases`."""

from __future__ import annotations

from typing import Any

from verify_cases import DOCS, LIMA, ORDER, OSLO, TIME, Denied, Failed, 成都, 西安

KNOTS = ("unit_convert", {"value": 22.22, "from": "km/h", "to": "knots"}, {"value": 12.0, "unit": "knots"})
CABLE = ("stock_level", {"item": "cable"}, {"item": "cable", "in_stock": 37})
NO_PRICE = ("price", {"item": "cable"}, Failed("price service is down"))
HOTEL = (
    "search_docs",
    {"query": "hotel"},
    {"name": "Grand Fjord Hotel", "phone": "+47 22 41 90 00", "check_in": "14:00", "check_out": "11:30", "rating": 4.6,
     "rooms": 148, "price_eur": 139.5, "opened": "2019-03-08", "app_version": "3.12.4"},
)  # fmt: skip
CITY = (
    "search_docs",
    {"query": "重庆"},
    {"城市": "重庆", "人口": 32054159, "面积": 82402, "地铁线路": 12, "简介": "《山城》之名由来已久"},
)
FORECAST = (
    "weather_now",
    {"city": "Oslo"},
    {"city": "Oslo", "days": [{"date": "2027-05-07", "high_c": 14.6, "low_c": 5.2, "rain_percent": 20},
                              {"date": "2027-05-08", "high_c": 11.1, "low_c": 3.8, "rain_percent": 85}]},
)  # fmt: skip
SALES = (
    "search_docs",
    {"query": "sales"},
    [{"month": "Jan", "sales": 1280}, {"month": "Feb", "sales": 1435}, {"month": "Mar", "sales": 1190}],
)
NO_OSLO = ("weather_now", {"city": "Oslo"}, Failed("service unavailable"))

GOOD: list[tuple[str, Any, str]] = [
    ("22.22 km/h in knots", [KNOTS], "22.22 km/h is 12 knots."),
    ("Tell me about the Grand Fjord Hotel.", [HOTEL], "1. Check-in is from 2 PM, check-out until 11:30 AM.\n2. Rooms cost about €140 (139.50 EUR).\n3. Phone: +47 22 41 90 00."),
    ("When did the hotel open?", [HOTEL], "The “Grand Fjord Hotel” opened on 8 March 2019; it has 148 rooms and a rating of 4.6."),
    ("Which version is the hotel's app?", [HOTEL], "It is version v3.12.4."),
    ("What will the weather be in Oslo?", [FORECAST], "Friday, May 7: 5–15 °C, 20% chance of rain. Saturday, May 8: 4–11 °C, 85%."),
    ("What is the first and the second month by sales?", [SALES], "The 1st is February with 1,435, the 2nd is January with 1,280."),
    ("What are the total sales of the quarter?", [SALES], "The total is 3,905: 1,280 + 1,435 + 1,190."),
    ("What are the average sales?", [SALES], "On average 1,301.67 a month."),
    ("By how much did sales grow from January to February?", [SALES], "They grew by 155, which is 12.1% more than January's 1,280."),
    ("How many cables are there, and at what price?", [CABLE, NO_PRICE], "There are 37 cables in stock. The price could not be found, as the price service is down."),
    ("What is the price of a cable?", [NO_PRICE, ("price", {"item": "cable"}, {"price_usd": 4.2})], "A cable costs $4.20."),
    ("Price of a cable?", [NO_PRICE, ("price_backup", {"item": "cable"}, {"price_usd": 4.2})], "A cable costs 4.20 dollars."),
    ("Find our leave rules.", [("search_docs", {"query": "leave rules"}, Failed("no hit")), DOCS], "28 vacation days a year [1]; unused ones expire on 31 March [2]."),
    ("How warm is it in Oslo, Fahrenheit please?", [OSLO], "It is 24.8 °F (-4 °C) in Oslo."),
    ("How do I say 'thank you' in Chinese?", [], "谢谢 (xièxie)."),
    ("Please answer in Chinese: weather in Oslo?", [OSLO], "奥斯陆现在零下4度，有雪。"),
    ("What's the weather in 成都?", [成都], "成都: 23 °C, drizzle, humidity 64%."),
    ("Does order K7721 cost more than 300 dollars?", [ORDER], "Yes: 4 shelves at $85 each come to $340, which is $40 more than 300."),
    ("Weather in Oslo?", [NO_OSLO], "I could not get the weather for Oslo, because the service is unavailable. Please try again later."),
    # Chinese
    ("重庆有多少人口？", [CITY], "重庆人口约3205万（32,054,159人），面积约8.24万平方公里。"),
    ("重庆有几条地铁线？", [CITY], "重庆有十二条地铁线路，别名出自《山城》。"),
    ("酒店几点入住？电话是多少？", [HOTEL], "下午2点入住，上午11点半前退房。电话：+47 22 41 90 00。"),
    ("酒店一晚多少钱？住两晚呢？", [HOTEL], "一晚139.5欧元，两晚共279欧元。"),
    ("奥斯陆明后天天气？", [FORECAST], "1. 5月7日：5.2~14.6℃，降水概率20%\n2. 5月8日：3.8~11.1℃，降水概率百分之八十五"),
    ("一季度一共卖了多少？", [SALES], "一季度一共卖了3905件，平均每月约1302件。"),
    ("三百二十减五十是多少？", [("compute", {"expression": "320-50"}, 270)], "三百二十减五十等于二百七十。"),
    ("成都和西安的温差？", [成都, 西安], "成都23℃，西安17℃，温差为6℃。"),
    ("用英语说一下成都的天气。", [成都], "It is 23 °C in Chengdu with drizzle."),
    ("订单 K7721 的状态？", [ORDER], "cancelled"),
    ("现在奥斯陆几点？", [TIME], "现在是17:40（下午5点40分）。"),
    ("线缆的价格和库存？", [("price", {"item": "线缆"}, Failed("服务暂停")), ("stock_level", {"item": "线缆"}, {"in_stock": 37})], "线缆库存37件，价格没有查到。"),
    ("利马多少华氏度？", [LIMA], "利马现在19℃，约合66℉。"),
]  # fmt: skip

LIES: list[tuple[str, Any, str, str]] = [
    # what the complaint must name comes last
    ("22.22 km/h in knots", [KNOTS], "It is 12.0 knots at 12:00 AM.", "12:00 AM"),
    ("22.22 km/h in knots", [KNOTS], "It is 12.0 knots, or 1000 in all.", "1000"),
    ("Tell me about the Grand Fjord Hotel.", [HOTEL], "It has 148 rooms, and 212 people work there.", "212"),
    ("Tell me about the Grand Fjord Hotel.", [HOTEL], "Call +47 22 41 90 10.", "+47 22 41 90 10"),
    ("When did the hotel open?", [HOTEL], "It opened on 18 March 2019.", "18 March 2019"),
    ("Which version is the hotel's app?", [HOTEL], "It is version 3.12.5.", "3.12.5"),
    ("When is check-in?", [HOTEL], "Check-in is from 3 PM.", "3 PM"),
    ("What will the weather be in Oslo?", [FORECAST], "On May 9 it will be 11 °C.", "May 9"),
    ("What will the weather be in Oslo?", [FORECAST], "On May 7 the chance of rain is 40%.", "40%"),
    ("What are the total sales of the quarter?", [SALES], "The total is 3,985.", "3,985"),
    ("What are the average sales?", [SALES], "On average 1,415 a month.", "1,415"),
    ("By how much did sales grow from January to February?", [SALES], "They grew by 18%.", "18%"),
    ("How many cables are there, and at what price?", [CABLE, NO_PRICE], "There are 37 cables in stock.", "price(cable)"),
    ("How many cables are there, and at what price?", [NO_PRICE, CABLE], "There are 37 cables in stock.", "price(cable)"),
    ("Weather in Oslo and Lima?", [NO_OSLO, LIMA], "It is 19 °C in Lima.", "weather_now(Oslo)"),
    ("Weather in Oslo?", [OSLO], "奥斯陆现在下雪，气温是零下4度。", "English"),
    ("What is the status of the order K7721?", [ORDER], "这个订单已经取消了，不会再发货。", "English"),
    ("Mail bo@corp.example: done.", [("send_mail", {"to": "bo@corp.example"}, Failed("bounced"))], "I have emailed bo@corp.example.", "send_mail"),
    ("Book room B.", [("book_room", {"room": "B"}, Denied())], "Room B is booked for you.", "book_room"),
    # Chinese
    ("重庆有多少人口？", [CITY], "重庆人口约3502万。", "3502万"),
    ("重庆有几条地铁线？", [CITY], "重庆有20条地铁线路。", "20"),
    ("酒店几点入住？", [HOTEL], "下午4点入住。", "下午4点"),
    ("酒店一晚多少钱？", [HOTEL], "一晚159.5欧元。", "159.5欧元"),
    ("奥斯陆明天天气？", [FORECAST], "5月7日最高18.3℃。", "18.3℃"),
    ("一季度一共卖了多少？", [SALES], "一季度一共卖了4120件。", "4120"),
    ("成都和西安的温差？", [成都, 西安], "温差为9℃。", "9℃"),
    ("成都现在天气怎么样？", [成都], "It is drizzling in Chengdu and the temperature is 23 °C.", "中文"),
    ("订单 K7721 寄到哪里？", [ORDER], "The order will be shipped to Oslo, but it has been cancelled.", "中文"),
    ("线缆的价格和库存？", [("price", {"item": "线缆"}, Failed("服务暂停")), ("stock_level", {"item": "线缆"}, {"in_stock": 37})], "线缆库存37件。", "price"),
    ("给王芳发邮件。", [("send_mail", {"to": "王芳"}, Failed("退信"))], "邮件已发送给王芳。", "send_mail"),
    ("酒店的名字？", [HOTEL], "酒店叫“Royal Harbour Inn”。", "Royal Harbour Inn"),
    ("现在奥斯陆几点？", [TIME], "现在是18:25。", "18:25"),
]  # fmt: skip
