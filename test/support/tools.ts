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

const onPath = (program: string): boolean => pathOf(program) !== undefined

/** Where a program of the machine is. */
export const pathOf = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map(folder => join(folder, program))
    .find(path => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
