/**
 * A comment's Markdown as a page that looks like a pull request. It knows the Markdown that svcctl writes and no other: what
 * it does not know is an error, so that a picture never shows less than the comment says.
 */

const STYLE = `
*{box-sizing:border-box}
body{margin:0;padding:24px;background:#fff;color:#1f2328;font:14px/1.5 -apple-system,BlinkMacSystemFont,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif}
.comment{display:grid;grid-template-columns:40px 1fr;gap:16px;width:880px}
.avatar{width:40px;height:40px;border-radius:50%;background:#0b57c2;color:#fff;font-weight:600;display:grid;place-items:center}
.box{border:1px solid #d1d9e0;border-radius:6px;overflow:hidden}
.head{padding:8px 16px;background:#f6f8fa;border-bottom:1px solid #d1d9e0;color:#59636e}
.head b{color:#1f2328}
.label{float:right;padding:0 7px;border:1px solid #d1d9e0;border-radius:2em;font-size:12px}
.body{padding:16px}
.body>:first-child{margin-top:0}.body>:last-child{margin-bottom:0}
h3{font-size:1.25em;margin:0 0 16px}h4{font-size:1em;margin:24px 0 12px}
h3,h4,b,th{font-weight:600}
table{border-collapse:collapse;margin:0 0 16px;width:max-content;max-width:100%}
td,th{padding:6px 13px;border:1px solid #d1d9e0;text-align:left;vertical-align:top}
tbody tr:nth-child(2n){background:#f6f8fa}
code{padding:.2em .4em;background:#818b981f;border-radius:6px;font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
p,ul{margin:0 0 16px}ul{padding-left:2em}
details{margin:0 0 12px}
pre{margin:8px 0 16px;padding:12px 16px;background:#f6f8fa;border-radius:6px;font:12px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;white-space:pre-wrap}
pre span{display:block}
pre .add{color:#116329;background:#dafbe1}pre .change{color:#953800;background:#ffd8b5}
.note{width:880px;margin:12px 0 0;color:#59636e;font-size:12px;text-align:right}
`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Code, bold, line breaks of tables, and what is written as HTML already. */
function inline(text: string): string {
  return text
    .split(/(`[^`]*`|<code>[^<]*<\/code>|<br>)/)
    .map((part, at) => {
      if (at % 2 === 1) return part.startsWith('`') ? `<code>${escaped(part.slice(1, -1))}</code>` : part
      return escaped(part)
        .replace(/\*\*([^*]+)\*\*/g, '<b>$1</b>')
        .replace(/^_([^_]+)_$/, '<em>$1</em>')
    })
    .join('')
}

const cells = (line: string): string[] =>
  line
    .slice(1, -1)
    .split('|')
    .map(it => it.trim())

function table(lines: readonly string[]): string {
  const [head = '', , ...rows] = lines
  const names = cells(head)
  const row = (tag: string, those: readonly string[]) => `<tr>${those.map(it => `<${tag}>${inline(it)}</${tag}>`).join('')}</tr>`
  const heading = names.every(it => it === '') ? '' : `<thead>${row('th', names)}</thead>`
  return `<table>${heading}<tbody>${rows.map(it => row('td', cells(it))).join('')}</tbody></table>`
}

const SIGNS: Readonly<Record<string, string>> = {'+': 'add', '!': 'change'}

const fence = (lines: readonly string[]): string =>
  `<pre>${lines.map(it => `<span class="${SIGNS[it.slice(0, 1)] ?? ''}">${escaped(it) || ' '}</span>`).join('')}</pre>`

function block(lines: readonly string[]): string {
  const [first = ''] = lines
  const heading = /^(#{3,4}) (.+)$/.exec(first)
  if (heading?.[1] !== undefined && lines.length === 1) return `<h${heading[1].length}>${inline(heading[2] ?? '')}</h${heading[1].length}>`
  if (first.startsWith('|')) return table(lines)
  if (first === '```diff' && lines.at(-1) === '```') return fence(lines.slice(1, -1))
  if (first.startsWith('<details>') || first === '</details>') return first
  if (first.startsWith('- ')) return `<ul>${lines.map(it => `<li>${inline(it.slice(2))}</li>`).join('')}</ul>`
  if (first.startsWith('<!--') && lines.length === 1) return ''
  if (/^[#>`|<]/.test(first)) throw new Error(`this is no Markdown that pictures know: ${first}`)
  return `<p>${lines.map(it => inline(it.trimEnd())).join('<br>')}</p>`
}

/** Blocks are separated by empty lines, but inside of a fence. */
function blocksOf(markdown: string): string[][] {
  const blocks: string[][] = [[]]
  let inFence = false
  for (const line of markdown.trim().split('\n')) {
    if (line.startsWith('```')) {
      if (!inFence) blocks.push([])
      inFence = !inFence
    }
    if (line === '' && !inFence) blocks.push([])
    else blocks.at(-1)?.push(line)
  }
  return blocks.filter(it => it.length > 0)
}

export const commentBody = (markdown: string): string => blocksOf(markdown).map(block).join('\n')

export const commentPage = (markdown: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A comment</title><style>${STYLE}</style>
<div class="comment"><div class="avatar" aria-hidden="true">s</div>
<div class="box"><div class="head"><span class="label">bot</span><b>svcctl-bot</b> commented on pull request #7</div>
<div class="body">${commentBody(markdown)}</div></div></div>
<p class="note">A rendering of the comment's own Markdown, made by scripts/pictures.ts; no screenshot of a code host.</p>
</html>
`
