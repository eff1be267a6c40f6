/** The one style of the page. Colours are pairs for light and dark; nothing is said by colour alone. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--line:#d8dce3;--text:#1a2230;--soft:#515c6d;--accent:#0b57c2;
--red:#b42318;--red-bg:#fdecea;--amber:#8a4b00;--amber-bg:#fdf3dd;--green:#17663a;--green-bg:#e5f5ea;--blue:#0b57c2;--blue-bg:#e7f0fd;
--grey-bg:#eceff3;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){:root{--bg:#10141b;--card:#181e27;--line:#323b49;--text:#e7ebf1;--soft:#a5b0c0;--accent:#8ab8ff;
--red:#ff9d92;--red-bg:#3a1d1b;--amber:#f3c069;--amber-bg:#35290f;--green:#7fd7a0;--green-bg:#15301f;--blue:#8ab8ff;--blue-bg:#16273f;--grey-bg:#242c38}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
main,header.top,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header.top{padding-top:2rem}
.eyebrow{margin:0;color:var(--soft);font-size:.85rem;letter-spacing:.04em;text-transform:uppercase}
h1{margin:.15rem 0 .35rem;font-size:1.9rem;line-height:1.2;letter-spacing:-.01em}
h2{margin:2.25rem 0 .75rem;font-size:1.25rem}
h3{margin:1.25rem 0 .5rem;font-size:1rem}
.verdict{display:inline-block;margin:0;padding:.3rem .75rem;border-radius:.5rem;font-weight:600;background:var(--blue-bg);color:var(--blue)}
.verdict.bad{background:var(--red-bg);color:var(--red)}
.verdict.good{background:var(--green-bg);color:var(--green)}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.75rem 0 0;padding:0;list-style:none;color:var(--soft);font-size:.9rem}
a{color:var(--accent)}
nav .facts{margin-top:.5rem}
.long{max-height:44rem;overflow:auto}
code,pre{font-family:var(--mono);font-size:.88em}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.75rem;margin:1.5rem 0 0;padding:0;list-style:none}
.tiles li{padding:.75rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}
.tiles b{display:block;font-size:1.75rem;line-height:1.1;font-variant-numeric:tabular-nums}
.tiles .red b{color:var(--red)}.tiles .amber b{color:var(--amber)}.tiles .green b{color:var(--green)}.tiles .blue b{color:var(--blue)}
.tiles span{color:var(--soft);font-size:.9rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem}
dl.card{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;margin:1.25rem 0 0;overflow:hidden}
dl.card dt,dl.card dd{margin:0;padding:.6rem 1rem;border-top:1px solid var(--line)}
dl.card dt:first-of-type,dl.card dd:first-of-type{border-top:0}
dl.card dt{font-weight:600;background:var(--grey-bg)}
dd p{margin:0 0 .25rem}dd p:last-child{margin:0}
.scroll{overflow:auto;max-width:100%}
.scroll:focus-visible,.long:focus-visible,a:focus-visible,summary:focus-visible,input:focus-visible,select:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{padding:.5rem .85rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;background:var(--grey-bg);font-weight:600;white-space:nowrap}
td.num,th.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td{min-width:6rem}
.sub{display:block;color:var(--soft);font-size:.85rem}
.badge{display:inline-block;min-width:4.6rem;padding:.05rem .5rem;border-radius:1rem;font-size:.8rem;font-weight:600;text-align:center;background:var(--grey-bg);color:var(--text)}
.badge.delete,.badge.replace,.badge.failed,.badge.missing{background:var(--red-bg);color:var(--red)}
.badge.update,.badge.drifted,.badge.blocked,.badge.skipped,.badge.unknown,.badge.detached{background:var(--amber-bg);color:var(--amber)}
.badge.create,.badge.done{background:var(--green-bg);color:var(--green)}
.badge.adopt,.badge.move,.badge.forget{background:var(--blue-bg);color:var(--blue)}
details.op td code,td .kind,td .badge{overflow-wrap:normal}
td .badge{white-space:nowrap}
.risk{color:var(--amber);font-weight:600}
details.op{border-top:1px solid var(--line)}
details.op:first-child{border-top:0}
details.op>summary{display:grid;grid-template-columns:6rem minmax(0,1fr) auto;gap:.25rem .75rem;align-items:baseline;padding:.55rem 1rem;cursor:pointer;list-style:none}
details.op>summary::-webkit-details-marker{display:none}
details.op>summary::after{content:"+";color:var(--soft);font-family:var(--mono)}
details.op[open]>summary::after{content:"\\2212"}
details.op>summary:hover{background:var(--grey-bg)}
details.op>div{padding:0 1rem 1rem}
.why{margin:.25rem 0 .5rem;color:var(--soft)}
form.filter{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end;margin:0 0 .75rem}
form.filter[hidden]{display:none}
form.filter label{display:block;font-size:.85rem;color:var(--soft)}
form.filter input,form.filter select{display:block;min-height:2.5rem;padding:.35rem .6rem;font:inherit;color:var(--text);background:var(--card);border:1px solid var(--soft);border-radius:.5rem}
form.filter>div,form.filter select{min-width:0;max-width:100%}
form.filter .grow{flex:1 1 12rem}
form.filter .grow input{width:100%}
form.filter output{color:var(--soft);font-size:.9rem;padding-bottom:.5rem}
.picture{max-height:40rem;padding:1rem}
svg{display:block}.picture>svg{margin:0 auto}
.node path,.node polygon{fill:var(--card);stroke:var(--soft);stroke-width:1.2}
.node text{fill:var(--text);font:10.5px system-ui,sans-serif}
.node.a-failed path,.node.a-failed polygon,.node.a-delete path,.node.a-replace path,.node.a-delete polygon,.node.a-replace polygon{fill:var(--red-bg);stroke:var(--red);stroke-width:2}
.node.a-update path,.node.a-update polygon,.node.a-blocked polygon,.node.a-blocked path{fill:var(--amber-bg);stroke:var(--amber)}
.node.a-create path,.node.a-create polygon{fill:var(--green-bg);stroke:var(--green)}
.node.a-adopt path,.node.a-move path,.node.a-forget path,.node.a-adopt polygon,.node.a-move polygon,.node.a-forget polygon{fill:var(--blue-bg);stroke:var(--blue)}
.edge path{fill:none;stroke:var(--soft)}
.edge polygon{fill:var(--soft);stroke:var(--soft)}
.edge.parent path{stroke-dasharray:4 3}
.bar{stroke:var(--card);stroke-width:1}
.bar.waiting{fill:var(--grey-bg);stroke:var(--line)}.bar.sending{fill:var(--blue)}.bar.task{fill:var(--accent);opacity:.55}.bar.settling{fill:var(--amber)}
.bar.planned{fill:var(--blue)}
.lane{stroke:var(--line)}
.mark{stroke:var(--red);stroke-width:1.5;stroke-dasharray:3 3}
.tl text{fill:var(--text);font:12px system-ui,sans-serif}
.tl .axis{fill:var(--soft);font-size:11px}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.5rem 0;padding:0;list-style:none;font-size:.88rem;color:var(--soft)}
.legend svg{display:inline-block;vertical-align:-1px;margin-right:.35rem}
pre.command{margin:.5rem 0;padding:.75rem 1rem;white-space:pre-wrap;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
.more>summary{cursor:pointer;color:var(--accent);margin:.75rem 0}
footer{padding-top:1rem;padding-bottom:3rem;color:var(--soft);font-size:.9rem}
[hidden]{display:none!important}
@media (max-width:40rem){
h1{font-size:1.5rem}
main,header.top,footer{padding-left:.9rem;padding-right:.9rem}
dl.card{display:block}
dl.card dt{border-top:1px solid var(--line);padding:.35rem .9rem}dl.card dd{border-top:0;padding:.5rem .9rem}
details.op>summary{grid-template-columns:minmax(0,1fr) auto;padding:.6rem .9rem}
details.op>summary>.badge{grid-column:1;justify-self:start}
details.op>summary>.what{grid-column:1;grid-row:2}
details.op>summary::after{grid-column:2;grid-row:1}
.tiles{grid-template-columns:repeat(2,1fr)}
th,td{padding:.45rem .6rem}
table.stack,table.stack tbody,table.stack tr,table.stack td{display:block;width:100%}
table.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.stack tr{border-top:1px solid var(--line);padding:.4rem 0}
table.stack tbody tr:first-child{border-top:0}
table.stack td{border:0;padding:.15rem .9rem}
table.stack td::before{content:attr(data-name);display:block;color:var(--soft);font-size:.8rem}
}
@media print{
:root{color-scheme:light;--bg:#fff;--card:#fff;--line:#bbb;--text:#000;--soft:#333}
body{font-size:11pt}form.filter,nav{display:none}.picture,.scroll,.long{max-height:none;overflow:visible}.card{break-inside:auto}tr,details.op{break-inside:avoid}
svg{max-width:100%;height:auto}
}
`

/** Shows the filter, and hides what it does not let through. Without it the page is whole. */
export const SCRIPT = `
(() => {
  const form = document.querySelector('form.filter')
  if (!form) return
  const rows = [...document.querySelectorAll('details.op')].map(row => ({
    row, action: row.dataset.action, kind: row.dataset.kind, text: row.textContent.toLowerCase(),
  }))
  const shown = form.querySelector('output')
  const look = () => {
    const {action, kind, text} = Object.fromEntries(new FormData(form))
    const words = String(text).toLowerCase().split(/\\s+/).filter(Boolean)
    let count = 0
    for (const it of rows) {
      const fits = (!action || it.action === action) && (!kind || it.kind === kind) && words.every(word => it.text.includes(word))
      it.row.hidden = !fits
      if (fits) count += 1
    }
    shown.textContent = count + ' of ' + rows.length + ' shown'
  }
  form.addEventListener('input', look)
  form.addEventListener('submit', event => event.preventDefault())
  form.hidden = false
  look()
  addEventListener('beforeprint', () => { for (const it of document.querySelectorAll('details')) it.open = true })
})()
`
