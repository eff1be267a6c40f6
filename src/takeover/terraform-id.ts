/** The words of Terraform's address that tell an object: `module.a.rediscloud_subscription.b["k"]` is `a_b_k`. */

const PART = /\[("(?:[^"\\]|\\.)*"|\d+)\]|[^.[\]]+/g

export function terraformId(address: string): string {
  const parts = [...address.matchAll(PART)].map(([text, index]) => ({
    text: index === undefined ? text : keyIn(index),
    isIndex: index !== undefined,
  }))
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

const keyIn = (index: string): string => (index.startsWith('"') ? index.slice(1, -1).replace(/\\(.)/g, '$1') : index)
