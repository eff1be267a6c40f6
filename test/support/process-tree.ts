/** A process and all that it started, as `/proc` shows them: a machine that goes takes the whole tree with it. */
import {readdirSync, readFileSync} from 'node:fs'

/** Sends SIGKILL to the process and to all below it, parents first, so that none of them can start another. */
export function killTree(root: number): void {
  const children = childrenByParent()
  const doomed = [root]
  for (let at = 0; at < doomed.length; at++) doomed.push(...(children.get(doomed[at] ?? 0) ?? []))
  for (const pid of doomed) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself meanwhile.
    }
  }
}

function childrenByParent(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(name)
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  return children
}

/** What stands behind the name of the program, which is in brackets and may hold any letter: its state, its parent. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(
      stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .at(1),
    )
  } catch {
    return undefined
  }
}
