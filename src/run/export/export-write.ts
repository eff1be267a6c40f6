/** From an export's model to its files: written all at once, proven, and (where that is wished) taken into ledgers. */

import {existsSync} from 'node:fs'
import {join} from 'node:path'
import type {Api} from '../../base/apis.ts'
import {AppError} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import {writeFolder} from '../../base/write-folder.ts'
import type {Connection} from '../../config/connection.ts'
import {SynthesisError} from '../../declaration/language/values/errors.ts'
import type {LoadedDeclarations} from '../../declaration/read/load.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {emptyLedger} from '../../engine/model/ledger.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import type {LiveWorld} from '../../engine/observe/read-world.ts'
import {withBanner} from '../../export/banner.ts'
import {documentText, type ExportDocument, exportDocument, type NotRead, type ProofResult} from '../../export/document.ts'
import {typescriptFiles, typescriptModule} from '../../export/files.ts'
import type {ExportModel} from '../../export/model.ts'
import {projectFiles} from '../../export/project.ts'
import {isLeftOutOfTerraform, terraformFiles} from '../../export/terraform.ts'
import type {RequestAllowance} from '../../transport/request-allowance.ts'
import type {Host} from '../host/host.ts'
import {ImportOwnedError, importObjects} from '../import/import.ts'
import {assertOpen} from '../workspace/controls.ts'
import {readDeclarations} from '../workspace/declarations.ts'
import {Workspace} from '../workspace/workspace.ts'
import {type ExportPlace, outdatedFiles} from './export-place.ts'
import {backendsOfFacts, declarationsOf, provePlan, refusal} from './export-proof.ts'

export type Form = 'typescript' | 'json' | 'terraform'
export type Adoption = 'blocks' | 'ledger' | 'none'

export interface ExportOptions {
  readonly to: Form
  readonly tables: number
  readonly adopt: Adoption
  readonly prove: boolean
  readonly lockTimeoutMs: number
}

export interface ExportTools {
  readonly host: Host
  readonly connect: (api: Api) => Promise<Connection>
  readonly allowance: RequestAllowance | undefined
  /** Right before something is written that stays. */
  readonly onWrite: () => void
}

export interface Exported extends ExportOptions {
  /** Absent: nothing is written. */
  readonly place: ExportPlace | undefined
  readonly world: LiveWorld
  readonly model: ExportModel
  readonly notRead: readonly NotRead[]
}

/** What was exported cannot be taken into ledgers here. */
export class ExportAdoptError extends AppError {
  constructor(why: string) {
    super(`nothing was written: the code must be proven before svcctl writes ledgers (${why})`, {
      code: 'E_EXPORT_ADOPT',
      suggestions: ['Export without --adopt ledger, and import in the folder afterwards: svcctl import --all'],
    })
  }
}

export interface ExportWritten {
  readonly document: ExportDocument
  readonly text: string
  readonly model: ExportModel
  /** Requests that the ledgers took: whose account it is. */
  readonly used: number
  /** Whether ledgers have it now: none was asked for, or the code would do something else. */
  readonly recorded: boolean
}

export async function writeExport(tools: ExportTools, exported: Exported): Promise<ExportWritten> {
  const {to, adopt, model, place, tables} = exported
  const hides = (value: Json) => tools.host.redactor.value(value)
  const files =
    to === 'typescript'
      ? typescriptFiles(model, {tables, adopts: adopt === 'blocks'})
      : to === 'terraform'
        ? bannered(terraformFiles(model, hides))
        : new Map<string, string>()
  const project =
    to === 'typescript' && place !== undefined && !place.isWithin
      ? missingIn(place, projectFiles(tools.host.version, model))
      : new Map<string, string>()
  const names = [...files.keys(), ...(to === 'terraform' ? [] : ['export.json'])].sort()
  const outdated = place === undefined ? [] : outdatedFiles(place, names)
  // Where no ledger would have anything, an app without stacks is of no use.
  const writes = place !== undefined && !(adopt === 'ledger' && model.stacks.length === 0)
  const documentOf = (proof: ProofResult): ExportDocument =>
    exportDocument({
      ...exported,
      files: writes ? names : [],
      proof,
      ...(to === 'terraform' ? {leavesOut: isLeftOutOfTerraform} : {}),
    })
  const write = (proof: ProofResult): void => {
    if (!writes) return
    tools.onWrite()
    const last = to === 'terraform' ? [] : [['export.json', documentText(documentOf(proof))] as const]
    writeFolder(place.dir, new Map([...files, ...project, ...last]), outdated)
  }
  const {proof, used, recorded} = await proven(tools, exported, write)
  if (writes && outdated.length > 0) tools.host.log.warn(removedText(place, outdated))
  if (to === 'typescript' && writes && place.isWithin) tools.host.log.note(partText(place))
  const text =
    to === 'typescript'
      ? typescriptModule(model, {tables, adopts: adopt === 'blocks'})
      : to === 'terraform'
        ? [...terraformFiles(model, hides)].map(([name, content]) => `# ${name}\n${content}`).join('\n')
        : ''
  return {document: documentOf(proof), text, model, used, recorded}
}

const bannered = (files: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...files].map(([name, content]) => [name, withBanner(`\n${content}`, '#')]))

/** Without a cdktf.json of its own nothing can be planned in it. */
const partText = ({dir, project}: ExportPlace): string =>
  `${dir} is a part of the app in ${project}, with no cdktf.json of its own: what it declares is planned once that app makes its stacks, as ${join(dir, 'main.ts')} does`

/** They may be the code of stacks that have been applied. */
function removedText({dir}: ExportPlace, outdated: readonly string[]): string {
  const named = outdated.slice(0, MOST_NAMED).join(', ')
  const more = outdated.length > MOST_NAMED ? ` and ${outdated.length - MOST_NAMED} more` : ''
  return `removed from ${dir}, where an earlier export wrote what this one does not have: ${named}${more}`
}

const MOST_NAMED = 10

const missingIn = ({dir}: ExportPlace, files: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...files].filter(([name]) => !existsSync(join(dir, name))))

/** @param write - once it is known what the code does; what goes into the ledgers is proven when they have it */
async function proven(
  tools: ExportTools,
  exported: Exported,
  write: (proof: ProofResult) => void,
): Promise<{readonly proof: ProofResult} & Pick<ExportWritten, 'used' | 'recorded'>> {
  const {adopt, world} = exported
  const stacks = await declarations(tools, exported)
  if ('proof' in stacks) {
    if (adopt === 'ledger' && stacks.proof !== 'empty') throw new ExportAdoptError(stacks.why ?? stacks.proof)
    write(stacks)
    return {proof: stacks, used: 0, recorded: false}
  }
  const {host, connect, allowance} = tools
  const writes = adopt === 'ledger'
  const workspace = await Workspace.open({
    host: writes ? {...host, cwd: exported.place?.project ?? host.cwd} : host,
    variables: [],
    connect,
    stacks: stacks.stacks,
    others: writes ? await appAround(tools, exported, stacks) : [],
    mode: 'plan',
    allowance,
    // What ledgers and files of values have says nothing of the code: only ledgers that are to be written are looked at.
    ...(writes ? {} : {ledgers: new Map(stacks.stacks.map(it => [it.name, emptyLedger(it.name)])), variable: () => undefined}),
  })
  try {
    // Planned over the facts that were read: not one request more.
    const seen = workspace.seen({backendOf: backendsOfFacts(world)})
    if (writes) assertNoLedger(seen)
    const first = withVanished(await provePlan(seen), world)
    const records = writes && first.proof === 'adopts'
    write(records ? {proof: 'empty'} : first)
    if (!records) return {proof: first, used: 0, recorded: false}
    const after = await record(seen, exported).catch((error: unknown) => {
      // The ledgers are as they were: a plan of the code adopts.
      write(first)
      throw error
    })
    if (after.proof !== 'empty') write(after)
    return {proof: after, used: workspace.usedRequests(), recorded: true}
  } finally {
    await workspace.close()
  }
}

/**
 * The stacks of the app whose folder the code goes into: what they have is in no second ledger, wherever theirs are kept.
 * @throws ExportAdoptError
 */
async function appAround({host}: ExportTools, {place}: Exported, {stacks}: LoadedDeclarations): Promise<readonly StackDeclarations[]> {
  if (place === undefined || !place.isWithin) return []
  const names = new Set(stacks.map(it => it.name))
  const source = {synthDir: undefined, synthEnvironment: undefined, stacks: undefined, stateFile: undefined, variables: []}
  try {
    const app = await readDeclarations({...host, cwd: place.project}, {...source, mode: 'validate', signal: new AbortController().signal})
    return app.stacks.filter(it => !names.has(it.name))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new ExportAdoptError(`what the stacks of the app in ${place.project} own is not known: ${error.message}`)
  }
}

/** The declarations of the code, or why there are none. */
async function declarations({host}: ExportTools, exported: Exported): Promise<LoadedDeclarations | ProofResult> {
  const {to, adopt, prove, model, tables, place} = exported
  if (to === 'terraform') return {proof: 'not run', why: 'Terraform itself tells: terraform plan'}
  if (!prove) return {proof: 'not run', why: '--no-prove'}
  if (model.stacks.length === 0) return {proof: 'empty'}
  try {
    return await declarationsOf(host, typescriptFiles(model, {tables, adopts: adopt !== 'none'}), [...(place ? [place.dir] : []), host.cwd])
  } catch (error) {
    if (error instanceof SynthesisError) return {proof: 'not run', why: error.message.split('\n')[0] ?? ''}
    return refusal(error)
  }
}

/** @throws ImportOwnedError */
function assertNoLedger({ledgers}: Workspace): void {
  const there = [...ledgers.values()].filter(it => it.condition === 'present')
  if (there.length > 0)
    throw new ImportOwnedError(
      there.map(({stack, entries}) => ({address: stack, message: `there is a ledger already, with ${entries.size} objects`})),
    )
}

/** What was gone before it was read whole. */
function withVanished(result: ProofResult, {vanished}: LiveWorld): ProofResult {
  if (vanished.length === 0) return result
  const gone = vanished.map(({remoteId}) => ({
    stack: '',
    address: remoteId,
    action: 'blocked',
    reason: 'it was in its list, and gone when it was read itself',
    paths: [],
  }))
  return {...result, proof: 'differs', differs: [...(result.differs ?? []), ...gone]}
}

async function record(workspace: Workspace, {model, lockTimeoutMs}: Exported): Promise<ProofResult> {
  const pairs = new Map(model.stacks.flatMap(it => it.objects).map(it => [keyOfOperation(it), it.remoteId]))
  await assertOpen(workspace.controls)
  const unlock = await workspace.lock(lockTimeoutMs)
  try {
    // Somebody may have frozen it while the lock was waited for.
    await assertOpen(workspace.controls)
    await workspace.loadLedgers()
    assertNoLedger(workspace)
    await importObjects(workspace, {pairs, onRecord: () => {}})
    await workspace.loadLedgers()
    return await provePlan(workspace)
  } finally {
    await unlock()
  }
}
