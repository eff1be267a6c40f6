/** HTML as a value: whatever is put into it as text is escaped, and nothing can be put into it unescaped by accident. */
import {brief} from '../../shown.ts'

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | undefined | readonly (Html | undefined)[]

const NAMED: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;'}

/** Lone halves of characters are no text in any encoding. */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const escaped = (text: string): string =>
  brief(text)
    .replace(LONE, '\ufffd')
    .replace(/[&<>"'`]/g, it => NAMED[it] ?? it)

function textOf(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') {
    let text = ''
    for (const it of part) text += it === undefined ? '' : it.text
    return text
  }
  return escaped(String(part))
}

/** A template: its own text is HTML, everything in `${}` is text unless it is HTML already. Long text loses its middle. */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = pieces[0] ?? ''
  for (let i = 0; i < parts.length; i++) text += textOf(parts[i]) + (pieces[i + 1] ?? '')
  return new Html(text)
}

/** A command to be copied: whole, however long it is. */
export const wholeText = (text: string): Html => new Html(text.replace(LONE, '\ufffd').replace(/[&<>"'`]/g, it => NAMED[it] ?? it))
