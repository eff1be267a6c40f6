/** The versions of all secrets that expressions name, whatever of them is taken: none where one has no version, or may be anywhere. */
import type {Names} from './names.ts'
import {type Node, partsOf} from './values/expression.ts'
import {type OpenValue, opensIn} from './values/open-value.ts'

const OF_STACKS = ['var', 'local']

export function secretVersions(
  nodes: readonly Node[],
  names: Names,
  evaluate: (node: Node, names: Names) => OpenValue,
): string | undefined {
  const versions: string[] = []
  const left = [...nodes]
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    // Another object, or an item of a list.
    if (node.type === 'root') return undefined
    if (node.type !== 'attr' || node.of.type !== 'root' || !OF_STACKS.includes(node.of.name)) {
      for (const part of partsOf(node)) left.push(part)
      continue
    }
    for (const {secret, version} of opensOf(node, names, evaluate)) {
      if (!secret) continue
      if (version === undefined) return undefined
      versions.push(version)
    }
  }
  return versions.length === 0 ? undefined : versions.sort().join(' ')
}

function opensOf(node: Node, names: Names, evaluate: (node: Node, names: Names) => OpenValue) {
  try {
    return opensIn(evaluate(node, names))
  } catch {
    // What cannot be read says nothing; whoever takes it says why.
    return [{secret: true, version: undefined}]
  }
}
