/** Which app the stacks of a folder are, as its `cdktf.json` says. */
import {join} from 'node:path'
import {parseJson} from '../../base/bounded-json.ts'
import {isJsonObject, type Json} from '../../base/json.ts'
import {textOf} from '../../base/text-of.ts'
import {readKeptFileSync} from '../../base/whole-file.ts'
import type {OwnApp} from '../../ledger/errors.ts'
import type {Host} from '../host/host.ts'

const LARGEST_PROJECT_BYTES = 1_048_576

/** `undefined` where there is none, or none that can be read: whoever needs it to run the app says what is wrong. */
export function ownApp({cwd}: Pick<Host, 'cwd'>): OwnApp | undefined {
  const project = projectIn(join(cwd, 'cdktf.json'))
  if (project === undefined || !isJsonObject(project)) return undefined
  const {projectId, svcctl} = project
  const former = isJsonObject(svcctl) && Array.isArray(svcctl.formerProjects) ? svcctl.formerProjects : []
  return {
    ...(isName(projectId) ? {projectId} : {}),
    formerProjects: former.filter(isName),
  }
}

const isName = (it: Json | undefined): it is string => typeof it === 'string' && it !== ''

function projectIn(path: string): Json | undefined {
  try {
    return parseJson(textOf(readKeptFileSync(path, LARGEST_PROJECT_BYTES))) as Json
  } catch {
    return undefined
  }
}
