// 200 hostile strings: twenty payloads, each in ten contexts that it tries to escape from.

/** Payloads. Each sets `window.hurt`, requests a foreign address, rewrites the terminal, or calls a spreadsheet formula, unless it is treated as text. */
const PAYLOADS = [
    "<script>window.hurt=1</script>",
    '<img src="x" onerror="window.hurt=1">',
    "<svg onload=window.hurt=1>",
    "<svg><script>window.hurt=1</script></svg>",
    '<iframe srcdoc="<script>parent.hurt=1</script>"></iframe>',
    '<object data="data:text/html,<script>parent.hurt=1</script>"></object>',
    '<link rel="stylesheet" href="http://127.0.0.1:9/x.css">',
    "<style>@import 'http://127.0.0.1:9/x.css';*{display:none}</style>",
    '<base href="http://127.0.0.1:9/">',
    '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">',
    '<form action="http://127.0.0.1:9/"><input autofocus onfocus="window.hurt=1"></form>',
    "<details open ontoggle=window.hurt=1>",
    '<a href="javascript:window.hurt=1">x</a>',
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hurt=1>",
    "javascript:window.hurt=1",
    "\u001b[31m\u001b]0;title\u0007\u009b2J",
    "\u202egnp.evil\u202c\u2066\u2069\u200f",
    "=HYPERLINK(\"http://127.0.0.1:9/\")",
    "{{constructor.constructor('window.hurt=1')()}}${window.hurt=1}<%=1%>",
    "&lt;script&gt;window.hurt=1&lt;/script&gt;\u0000\ufeff\u2028\u2029",
];

const CONTEXTS: ((payload: string) => string)[] = [
    (payload) => payload,
    (payload) => `"><${payload}`,
    (payload) => `'>${payload}`,
    (payload) => `\`\`\`${payload}`,
    (payload) => `</script>${payload}`,
    (payload) => `</title></style></textarea></noscript>${payload}`,
    (payload) => `<!--${payload}-->`,
    (payload) => `--><![CDATA[${payload}]]>`,
    (payload) => `\\"};${payload}//`,
    (payload) => payload.replace(/</g, "\uff1c\u003c"),
];

export const HOSTILE = CONTEXTS.flatMap((context) => PAYLOADS.map(context));
