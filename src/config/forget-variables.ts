/**
 * Takes variables out of the environment that this process shows to others. Every process of the same user can read the
 * environment another one began with (`/proc/<pid>/environ`): it stays in memory as it was, whatever is unset later. On
 * Linux a process may write over its own.
 */
import {closeSync, openSync, readFileSync, readSync, writeSync} from 'node:fs'

/** Of `/proc/self/stat`, counted after the name in brackets: where the environment begins and ends (proc(5), 50 and 51). */
const [BEGIN, END] = [47, 48]

/**
 * @param names - of variables that were read and are needed no more
 * @returns whether nobody finds their values in this process' environment any more
 */
export function forgetVariables(names: ReadonlySet<string>): boolean {
  for (const name of names) delete process.env[name]
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    overwrite(Number(fields[BEGIN]), Number(fields[END]), names)
    return true
  } catch {
    // Not every kernel and container lets a process write there; docs/security.md says what that leaves.
    return false
  }
}

function overwrite(begin: number, end: number, names: ReadonlySet<string>): void {
  const memory = openSync('/proc/self/mem', 'r+')
  try {
    const block = Buffer.alloc(end - begin)
    readSync(memory, block, 0, block.length, begin)
    for (let at = 0; at < block.length; ) {
      const next = block.indexOf(0, at)
      const stop = next < 0 ? block.length : next
      const sign = block.indexOf('=', at)
      if (sign > at && sign < stop && names.has(block.toString('utf8', at, sign)) && sign + 1 < stop)
        writeSync(memory, Buffer.alloc(stop - sign - 1), 0, stop - sign - 1, begin + sign + 1)
      at = stop + 1
    }
  } finally {
    closeSync(memory)
  }
}
