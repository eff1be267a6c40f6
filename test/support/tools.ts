/** Programs of the machine that some tests need. Where one is missing the test is skipped, and says so. */
import {accessSync, constants} from 'node:fs'
import {delimiter, join} from 'node:path'

/** @returns whether something is missing; what, and how to get it, is told on the console */
export function lacks(test: string, ...programs: readonly string[]): boolean {
  const missing = programs.filter(name => !onPath(name))
  if (missing.length === 0) return false
  console.warn(`SKIPPED: ${test}: not on this machine: ${missing.join(', ')}. Where there is apt: scripts/install-test-tools.sh`)
  return true
}

const onPath = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
