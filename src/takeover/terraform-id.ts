/** The words of Terraform's address that tell an object: `module.a.rediscloud_subscription.b["k"]` is `a_b_k`. */

/** What begins a part; a pattern that repeats a group over a key of many megabytes fails (RangeError). */
const BEGIN = /\["|\[\d+\]|[^.[\]]+/g
/** Of a key in quotes: what is escaped, and its end. */
const ESCAPED_OR_END = /\\.|"/gs

interface Part {
  readonly text: string
  readonly isIndex: boolean
}

export function terraformId(address: string): string {
  const parts = partsOf(address)
  const words: string[] = []
  let at = 0
  const take = (): void => {
    words.push(parts[at++]?.text ?? '')
    while (parts[at]?.isIndex) words.push(parts[at++]?.text ?? '')
  }
  while (parts[at]?.text === 'module') {
    at++
    take()
  }
  // The type says nothing that the kind does not.
  at++
  take()
  return words.filter(it => it !== '').join('_')
}

function partsOf(address: string): readonly Part[] {
  const parts: Part[] = []
  BEGIN.lastIndex = 0
  for (let begin = BEGIN.exec(address); begin !== null; begin = BEGIN.exec(address)) {
    const [text] = begin
    if (text !== '["') {
      parts.push(text.startsWith('[') ? {text: text.slice(1, -1), isIndex: true} : {text, isIndex: false})
      continue
    }
    const end = endOfKey(address, BEGIN.lastIndex)
    if (end === undefined) continue
    parts.push({text: address.slice(BEGIN.lastIndex, end).replace(/\\(.)/gs, '$1'), isIndex: true})
    BEGIN.lastIndex = end + '"]'.length
  }
  return parts
}

/** Where the quote is that ends a key, with the bracket behind it. */
function endOfKey(address: string, from: number): number | undefined {
  ESCAPED_OR_END.lastIndex = from
  for (let mark = ESCAPED_OR_END.exec(address); mark !== null; mark = ESCAPED_OR_END.exec(address)) {
    if (mark[0] === '"') return address[mark.index + 1] === ']' ? mark.index : undefined
  }
  return undefined
}
