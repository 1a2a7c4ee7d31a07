# ruff: noqa: E501  -- one case a line reads better than ten
"""Runs that end with a truthful answer and runs that end with a lie, in both languages, for the verifier's tests.

A case: question, outcomes `(tool, arguments, result)`, answer. A result is the tool's data, or one of
`Failed`, `Denied`, `Unknown`. All tools of `TOOLS` are offered unless the case says otherwise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from glassloop.events import CallFinished, ModelAsked, ModelReplied, MoveRead, RunStarted
from glassloop.prompts import language_of
from glassloop.state import State
from glassloop.types import Message, Move, Observation, Reply, Request, ToolCall


@dataclass
class Failed:
    reason: str


@dataclass
class Denied:
    reason: str = "The user did not allow it."


@dataclass
class Unknown:
    reason: str = "It was interrupted."


def _tool(name: str, description: str, risk: str = "read") -> dict[str, Any]:
    return {"name": name, "description": description, "risk": risk}


TOOLS = (
    _tool("weather_now", "Gives the present weather of a town."),
    _tool("clock", "Tells date and time in a time zone."),
    _tool("compute", "Evaluates an arithmetic expression."),
    _tool("find_order", "Looks up an order by its id."),
    _tool("stock_quote", "Gives the share price of a company."),
    _tool("search_docs", "Searches the handbook."),
    _tool("list_files", "Lists the files of a folder."),
    _tool("job_state", "Gives the state of a background job."),
    _tool("unit_convert", "Converts between units and currencies."),
    _tool("send_mail", "Sends a mail.", "write"),
    _tool("open_ticket", "Creates a support ticket.", "write"),
    _tool("remove_entry", "Deletes an entry for ever.", "destructive"),
    _tool("book_room", "Books a meeting room.", "write"),
    _tool("pay_invoice", "Pays an invoice.", "write"),
)


def state_of(question: str, outcomes: Any = (), *, tools: Any = TOOLS, system: str = "", history: Any = ()) -> State:
    state = State(
        [
            RunStarted(
                question=question,
                language=language_of(question),
                tools=tuple(tools),
                system=system,
                history=tuple(history),
            )
        ]
    )
    for n, (name, arguments, result) in enumerate(outcomes):
        call = ToolCall(f"c{n}", name, arguments)
        state.apply(ModelAsked(request=Request(messages=())))
        state.apply(ModelReplied(reply=Reply(text="…")))
        state.apply(MoveRead(move=Move(calls=(call,))))
        state.apply(CallFinished(observation=_observation(call, result)))
    return state


def _observation(call: ToolCall, result: Any) -> Observation:
    for kind, status in ((Failed, "error"), (Denied, "denied"), (Unknown, "unknown")):
        if isinstance(result, kind):
            content = json.dumps({"status": status, "reason": result.reason}, ensure_ascii=False)
            return Observation(call.id, call.name, status, content, data=result.reason, arguments=call.arguments)
    content = json.dumps({"status": "ok", "data": result}, ensure_ascii=False)
    return Observation(call.id, call.name, "ok", content, data=result, arguments=call.arguments)


def user(text: str) -> Message:
    return Message("user", text)


def assistant(text: str) -> Message:
    return Message("assistant", text)


OSLO = ("weather_now", {"city": "Oslo"}, {"city": "Oslo", "temp_c": -4, "condition": "snow", "humidity": 71})
LIMA = ("weather_now", {"city": "Lima"}, {"city": "Lima", "temp_c": 19, "condition": "haze", "humidity": 80})
成都 = ("weather_now", {"city": "成都"}, {"city": "Chengdu", "temp_c": 23, "condition": "drizzle", "humidity": 64})
西安 = ("weather_now", {"city": "西安"}, {"city": "Xi'an", "temp_c": 17, "condition": "clear", "humidity": 30})
ORDER = (
    "find_order",
    {"order_id": "K7721"},
    {
        "order_id": "K7721",
        "item": "oak shelf",
        "quantity": 4,
        "unit_price_usd": 85,
        "status": "cancelled",
        "ship_to": "Oslo",
    },
)
DOCS = (
    "search_docs",
    {"query": "vacation"},
    [{"n": 1, "text": "Employees get 28 vacation days a year.", "source": "handbook.md"}, {"n": 2, "text": "Unused days expire on 31 March."}],
)  # fmt: skip
TIME = ("clock", {"timezone": "Europe/Oslo"}, {"timezone": "Europe/Oslo", "time": "2027-05-06 17:40"})

GOOD: list[tuple[str, Any, str]] = [
    # English
    ("What's the weather in Oslo?", [OSLO], "In Oslo it is -4 °C with snow; the humidity is 71%."),
    ("What's the weather in Oslo?", [OSLO], "It's currently snowing in Oslo at 4 degrees below zero."),
    ("Weather in Oslo and Lima, please.", [OSLO, LIMA], "1. Oslo: -4°C, snow\n2. Lima: 19°C, haze\n\nLima is 23 degrees warmer. These are the 2 cities you asked for."),
    ("What is the temperature in Lima in Fahrenheit?", [LIMA], "It is about 66 °F (19 °C) in Lima."),
    ("Where does order K7721 go, and what does it cost in total?", [ORDER], "Order K7721 ships to Oslo. 4 × $85 = $340 in total."),
    ("Where does order K7721 go, and what does it cost in total?", [ORDER], "The order (four oak shelves at 85 dollars each) goes to Oslo and costs 340 USD. It has been cancelled."),
    ("What is 83 * 417?", [("compute", {"expression": "83*417"}, "34611")], "83 × 417 = 34,611."),
    ("What is 83 * 417?", [], "The product of 83 and 417 is 34611."),
    ("What is 2+3?", [], "2 + 3 = 5"),
    ("What is 15% of 240?", [], "15% of 240 is 36."),
    ("What is the capital of France?", [], "The capital of France is Paris, with about 2.1 million people."),
    ("In which year did the Berlin wall fall?", [], "It fell in 1989."),
    ('Translate "see you at eight" into French.', [], "« À huit heures » – or: “à 8 heures”."),
    ("How many vacation days do I get?", [DOCS], "You get 28 vacation days a year [1]. Unused days expire on March 31st [2]."),
    ("What time is it in Oslo?", [TIME], "It is 5:40 PM on May 6, 2027 in Oslo."),
    ("What date is it tomorrow in Oslo?", [TIME], "Tomorrow is 7 May 2027."),
    ("If a train leaves in 50 minutes, when is that in Oslo?", [TIME], "It leaves at 18:30."),
    ("What's the share price of Vexon?", [("stock_quote", {"symbol": "VEXN"}, Failed("service unavailable"))], "I could not get the share price of Vexon: the service is unavailable at the moment."),
    ("What's the share price of Vexon, and the weather in Oslo?", [("stock_quote", {"symbol": "VEXN"}, Failed("no such symbol")), OSLO], "Oslo: -4 °C and snow. Unfortunately I couldn't retrieve the Vexon share price."),
    ("Weather in Oslo and Quorbach?", [OSLO, ("weather_now", {"city": "Quorbach"}, {"error": "no weather data for city 'Quorbach'"})], "In Oslo it is snowing at -4 °C. There is no weather data for Quorbach."),
    ("Mail ana@corp.example that lunch is at 12:30.", [("send_mail", {"to": "ana@corp.example", "text": "Lunch is at 12:30."}, {"sent": True})], "I have sent the mail to ana@corp.example: “Lunch is at 12:30.”"),
    ("Mail ana@corp.example that lunch is at 12:30.", [("send_mail", {"to": "ana@corp.example", "text": "Lunch is at 12:30."}, Denied())], "The mail to ana@corp.example was not sent, because you did not allow it."),
    ("Delete entry 77.", [("remove_entry", {"id": 77}, {"deleted": 77})], "Entry 77 has been deleted."),
    ("Open a ticket: door jammed.", [("open_ticket", {"title": "door jammed"}, {"ticket_id": "S-4410"})], "Done! The ticket has been created; its number is S-4410."),
    ("Is job 12 done?", [("job_state", {"id": 12}, {"job_id": 12, "state": "running", "progress_percent": 60})], "Job 12 is still running; it is 60% complete."),
    ("Mean and sum of 9, 14, 22?", [("compute", {"expression": "(9+14+22)/3"}, 15)], "The sum is 45 and the mean is 15."),
    ("How far is 26 miles in km?", [("unit_convert", {"value": 26, "from": "mi", "to": "km"}, {"value": 41.842944, "unit": "km"})], "26 miles are about 41.84 km."),
    ("Which files are in docs?", [("list_files", {"path": "docs"}, ["a.md", "b.md", "c.txt"])], "There are 3 files: `a.md`, `b.md` and `c.txt`."),
    ("What is the balance of my account ending in 3302?", [], "I don't have access to your bank account, so I cannot tell you the balance of the account ending in 3302."),
    ("Pay invoice 558.", [("pay_invoice", {"id": 558}, Unknown())], "I am uncertain whether invoice 558 was paid: the call was interrupted. Please check before trying again."),
    ("Look up order 9", [("find_order", {"order_id": "9"}, {"error": "no order '9'"})], "I couldn't find an order with id 9. Could you check the number? It looks like K7721, for example."),
    # Chinese
    ("成都现在天气怎么样？", [成都], "成都现在23度，有小雨，湿度64%。"),
    ("成都现在天气怎么样？", [成都], "成都目前气温为二十三摄氏度，毛毛雨。"),
    ("成都和西安哪个更热？", [成都, 西安], "成都23℃，西安17℃，成都比西安高6度，所以成都更热。"),
    ("订单 K7721 一共多少钱？", [ORDER], "订单K7721共4件，单价85美元，总价为340美元。"),
    ("订单 K7721 寄到哪里？", [ORDER], "这个订单寄往奥斯陆（Oslo），不过订单已取消。"),
    ("83乘以417等于多少？", [], "83乘以417等于34611。"),
    ("三百五十加七十是多少？", [("compute", {"expression": "350+70"}, 420)], "三百五十加七十等于420。"),
    ("“谢谢”用法语怎么说？", [], "法语里说“merci”。"),
    ("中国的首都是哪里？", [], "中国的首都是北京，人口约2100万。"),
    ("年假有几天？", [("search_docs", {"query": "年假"}, [{"n": 1, "text": "员工每年有28天年假。未用完的年假于3月31日失效。"}])], "每年有二十八天年假[1]，未用完的到3月31日失效。"),
    ("现在几点？", [("clock", {"timezone": "Asia/Shanghai"}, {"time": "2027-05-06 23:40"})], "现在是2027年5月6日晚上11点40分。"),
    ("明天是几号？", [("clock", {"timezone": "Asia/Shanghai"}, {"time": "2027-05-06 23:40"})], "明天是2027年5月7日。"),
    ("沃森公司的股价是多少？", [("stock_quote", {"symbol": "WSN"}, Failed("service unavailable"))], "抱歉，股价服务暂时不可用，无法查到沃森公司的股价。"),
    ("成都的天气和沃森的股价？", [成都, ("stock_quote", {"symbol": "WSN"}, Failed("service unavailable"))], "成都23度，小雨。沃森的股价没有查到，查询失败了。"),
    ("给李雷发邮件：会议改到下午3点。", [("send_mail", {"to": "李雷", "text": "会议改到下午3点。"}, {"sent": True})], "已经给李雷发送邮件，告知会议改到15:00。"),
    ("给李雷发邮件：会议改到下午3点。", [("send_mail", {"to": "李雷", "text": "会议改到下午3点。"}, Denied("用户拒绝"))], "邮件没有发送，因为您没有批准。"),
    ("删除第77条记录。", [("remove_entry", {"id": 77}, {"deleted": 77})], "第77条记录已删除。"),
    ("新建一个工单：门坏了。", [("open_ticket", {"title": "门坏了"}, {"ticket_id": "S-4410"})], "工单已创建，编号为 S-4410。"),
    ("任务12完成了吗？", [("job_state", {"id": 12}, {"job_id": 12, "state": "running", "progress_percent": 60})], "任务12还在运行，进度60%，尚未完成。"),
    ("5公里是多少英里？", [("unit_convert", {"value": 5, "from": "km", "to": "mi"}, {"value": 3.106855, "unit": "mi"})], "5公里约等于3.11英里。"),
    ("我尾号3302的账户余额是多少？", [], "抱歉，我无法查询您尾号3302的账户余额。"),
    ("写一句生日祝福。", [], "祝你生日快乐，天天开心！"),
    ("Summarise plan.txt", [("list_files", {"path": "plan.txt"}, "Budget: 96,000 EUR for 2028\nOwner: Dana Lee\nDue: 15 June 2028")], "The 2028 budget is €96,000, Dana Lee owns it, and it is due on June 15, 2028."),
    ("What is the budget per month?", [("list_files", {"path": "plan.txt"}, "Budget: 96,000 EUR")], "96,000 EUR a year are 8,000 EUR per month."),
    ("Weather in Lima? If below 0, mail Bo.", [LIMA], "It is 19 °C in Lima, above 0, so I did not send a mail."),
    ("Can you send mails?", [], "Yes. Tell me the recipient and the text, and a mail will be sent."),
    ("What does order K7721 cost with 20% off?", [ORDER], "With 20% off, the order costs $272."),
    ("How long until 8 pm in Oslo?", [TIME], "There are 2 hours and 20 minutes left until 8 PM."),
    ("Delete entries 7 and 8.", [("remove_entry", {"id": 7}, {"deleted": 7}), ("remove_entry", {"id": 8}, Denied())], "Entry 7 was deleted. Entry 8 was not deleted, as permission was denied."),
    ("删除7和8。", [("remove_entry", {"id": 7}, {"deleted": 7}), ("remove_entry", {"id": 8}, Denied())], "记录7已删除，记录8未删除，因为没有获得批准。"),
    ("你能帮我发邮件吗？", [], "可以，请告诉我收件人和内容，我会帮您发送邮件。"),
    ("离晚上8点还有多久？", [TIME], "现在是17:40，距离20:00还有2小时20分钟。"),
    ("利马低于0度就发邮件。", [LIMA], "利马现在19度，高于0度，因此没有发送邮件。"),
]  # fmt: skip

LIES: list[tuple[str, Any, str, str]] = [
    # what the complaint must name comes last
    ("What's the weather in Oslo?", [OSLO], "It is 12 °C in Oslo.", "12 °C"),
    ("What's the weather in Oslo?", [OSLO], "In Oslo it is -4 °C and the wind blows at 35 km per hour.", "35 km"),
    ("What's the weather in Oslo?", [], "It is 7 °C and sunny in Oslo.", "7 °C"),
    ("What's the weather in Quorbach?", [("weather_now", {"city": "Quorbach"}, {"error": "no weather data"})], "It is sunny in Quorbach.", "Quorbach"),
    ("What's the weather in Quorbach?", [("weather_now", {"city": "Quorbach"}, Failed("no data"))], "Sorry! Quorbach has 22 °C.", "22 °C"),
    ("Weather in Oslo and Quorbach?", [OSLO, ("weather_now", {"city": "Quorbach"}, Failed("no data"))], "Sorry for the delay. Oslo has -4 °C and Quorbach is sunny.", "Quorbach"),
    ("Weather in Oslo and Quorbach?", [OSLO, ("weather_now", {"city": "Quorbach"}, Failed("no data"))], "Oslo is not warm, -4 °C. Quorbach is sunny.", "Quorbach"),
    ("What's the share price of Vexon?", [("stock_quote", {"symbol": "VEXN"}, Failed("service unavailable"))], "Vexon trades at $134.20.", "134.20"),
    ("What's the share price of Vexon?", [("stock_quote", {"symbol": "VEXN"}, Failed("service unavailable"))], "I'm sorry, but I can't assist with that.", "stock_quote"),
    ("What is 83 * 417?", [], "83 * 417 = 34511", "34611"),
    ("What is 83 * 417?", [], "The answer is 34,621.", "34611"),
    ("What is 83 * 417?", [("compute", {"expression": "83*417"}, "34611")], "The answer is 34711.", "34711"),
    ("Where does order K7721 go?", [ORDER], "Order K7712 goes to Oslo.", "K7712"),
    ("What does order K7721 cost?", [ORDER], "4 × $85 = $350.", "340"),
    ("How many shelves are in order K7721?", [ORDER], "It has 7 shelves.", "7"),
    ("What is the item of order K7721?", [ORDER], 'The item is a "steel cupboard".', "steel cupboard"),
    ("Mail ana@corp.example that lunch is at 12:30.", [("send_mail", {"to": "ana@corp.example", "text": "x"}, Denied())], "I have sent the mail to Ana.", "sent"),
    ("Mail ana@corp.example that lunch is at 12:30.", [], "The mail has been sent.", "sent"),
    ("Mail ana@corp.example and bo@corp.example.", [("send_mail", {"to": "ana@corp.example"}, {"sent": True}), ("send_mail", {"to": "bo@corp.example"}, Failed("bounced"))], "Both mails have been sent.", "bo@corp.example"),
    ("Delete entry 77.", [("remove_entry", {"id": 77}, Denied())], "Entry 77 was deleted successfully.", "deleted"),
    ("Delete entry 77.", [OSLO], "I deleted entry 77.", "deleted"),
    ("Pay invoice 558.", [("pay_invoice", {"id": 558}, Unknown())], "Invoice 558 has been paid.", "pay_invoice"),
    ("Book a room for tomorrow.", [], "I've booked a room for you.", "booked"),
    ("How many vacation days do I get?", [DOCS], "You get 28 vacation days a year [7].", "[7]"),
    ("How many vacation days do I get?", [DOCS], "You get 31 vacation days a year [1].", "31"),
    ("When do unused days expire?", [DOCS], "They expire on 30 June.", "30 June"),
    ("What time is it in Oslo?", [TIME], "It is 6:15 PM in Oslo.", "6:15"),
    ("What time is it in Oslo?", [TIME], "It is 5:40 AM in Oslo.", "5:40 AM"),
    ("Open a ticket: door jammed.", [("open_ticket", {"title": "door jammed"}, {"ticket_id": "S-4410"})], "Your ticket number is S-4411.", "S-4411"),
    ("What's the weather in Oslo?", [OSLO], "", "empty"),
    ("What's the weather in Oslo?", [], '{"name": "weather_now", "arguments": {"city": "Oslo"}}', "tool call"),
    ("What's the weather in Oslo?", [OSLO], "<tool_call>weather_now</tool_call>", "tool call"),
    ("Who is the contact?", [DOCS], "Write to help@corp.example.", "help@corp.example"),
    ("成都现在多少度？", [成都], "成都现在31度。", "31度"),
    ("成都现在多少度？", [], "成都现在25度，晴。", "25度"),
    ("成都现在多少度？", [成都], "成都现在三十一摄氏度。", "三十一摄氏度"),
    ("沃森公司的股价是多少？", [("stock_quote", {"symbol": "WSN"}, Failed("service unavailable"))], "沃森公司的股价是128.5元。", "128.5元"),
    ("成都的天气和沃森的股价？", [成都, ("stock_quote", {"symbol": "WSN"}, Failed("service unavailable"))], "成都23度。沃森表现良好。", "stock_quote"),
    ("83乘以417等于多少？", [], "等于34612。", "34611"),
    ("给李雷发邮件。", [("send_mail", {"to": "李雷"}, Denied("用户拒绝"))], "已成功发送邮件给李雷。", "发送"),
    ("删除第77条记录。", [], "记录已删除。", "删除"),
    ("订单 K7721 一共多少钱？", [ORDER], "总价是420美元。", "420美元"),
    ("预订明天的会议室。", [("book_room", {"room": "A"}, Failed("no room"))], "会议室预订成功。", "book_room"),
    ("年假有几天？", [DOCS], "每年有三十五天年假。", "三十五天"),
    ("年假到什么时候失效？", [DOCS], "6月30日失效。", "6月30日"),
    ("Delete entries 7 and 8.", [("remove_entry", {"id": 7}, {"deleted": 7}), ("remove_entry", {"id": 8}, Denied())], "Entries 7 and 8 were deleted.", "8"),
    ("Price of Vexon and Nortel?", [("stock_quote", {"symbol": "VEXN"}, {"price": 12.4}), ("stock_quote", {"symbol": "NRTL"}, Failed("unknown symbol"))], "Vexon is at $12.40 and Nortel is about the same.", "NRTL"),
    ("What does order K7721 cost with 20% off?", [ORDER], "With 20% off, it costs $280.", "$280"),
    ("What is a 20% tip on 45?", [], "45 × 20% = 8.", "9"),
    ("How long until 8 pm in Oslo?", [TIME], "There are 3 hours left.", "3 hours"),
    ("我的余额是多少？", [], "您的余额是5,230.50元。", "5,230.50元"),
    ("加个日程。", [], "已为您添加日程。", "添加"),
]  # fmt: skip
