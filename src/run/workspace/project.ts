/** Whether there is a project: said before all that reads stacks is loaded. */
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {noProject} from '../../declaration/language/values/errors.ts'
import type {Host} from '../host/host.ts'

/** @throws NoStacksError */
export function assertProject({cwd}: Host): void {
  if (!existsSync(join(cwd, 'cdktf.json'))) throw noProject(cwd)
}
