/** What was exported as JSON: `svcctl export -o json`, and `export.json` beside the code. */
import {z} from 'zod'
import type {Json, JsonObject} from '../base/json.ts'
import {formatPointer} from '../base/pointer.ts'
import {withJsonBanner} from './banner.ts'
import {jsonFields} from './json-text.ts'
import type {ExportedObject, ExportModel} from './model.ts'

export const EXPORT_FORMAT = 'svcctl.export/1'

/** Whether the plan of what was written, over what was read, does nothing; `not run`: nobody knows. */
export type Proof = 'empty' | 'adopts' | 'differs' | 'not run'

/** Kinds that were left out, and how many requests they would cost. */
export interface NotRead {
  readonly kind: string
  readonly requests: number
}

/** What a plan of the exported declarations would do beside adopting. */
export interface ExportDifference {
  readonly stack: string
  readonly address: string
  readonly action: string
  readonly reason: string
  /** JSON pointers of the fields. */
  readonly paths: readonly string[]
}

export interface ProofResult {
  readonly proof: Proof
  /** Why it was not run. */
  readonly why?: string
  readonly differs?: readonly ExportDifference[]
}

const json: z.ZodType<Json> = z.json()

export const exportSchema = z.strictObject({
  '//': z.string().exactOptional().describe('of a file: that svcctl wrote it, and a digest of the rest'),
  format: z.literal(EXPORT_FORMAT),
  objects: z.array(
    z.strictObject({
      stack: z.string(),
      address: z.string(),
      kind: z.string(),
      remoteId: z.string(),
      name: z.string().nullable(),
      parent: z.string().exactOptional().describe('the remote id of what it lives in'),
      spec: z.record(z.string(), json),
      secrets: z.array(z.string()).describe('fields whose values nobody can read, as JSON pointers'),
      leftOut: z.array(z.string()).describe('fields that the API shows and the declaration has not'),
    }),
  ),
  undeclarable: z
    .array(z.strictObject({kind: z.string(), remoteId: z.string(), name: z.string().nullable(), problems: z.array(z.string())}))
    .exactOptional()
    .describe('objects that no stack can declare'),
  secrets: z.array(z.string()).describe('variables to be set once a secret is sent: TF_VAR_…'),
  notRead: z.array(z.strictObject({kind: z.string(), requests: z.int().nonnegative()})),
  files: z.array(z.string()),
  proof: z.enum(['empty', 'adopts', 'differs', 'not run']),
  why: z.string().exactOptional().describe('why the proof was not run'),
  differs: z
    .array(z.strictObject({stack: z.string(), address: z.string(), action: z.string(), reason: z.string(), paths: z.array(z.string())}))
    .exactOptional()
    .describe('what a plan would change'),
  requests: z.strictObject({used: z.int().nonnegative()}).exactOptional().describe('of the command; not in files'),
})

export type ExportDocument = z.output<typeof exportSchema>

export interface DocumentParts {
  readonly model: ExportModel
  readonly notRead: readonly NotRead[]
  readonly files: readonly string[]
  readonly proof: ProofResult
  /** Objects that the language has no place for: all of their fields are left out. */
  readonly leavesOut?: (object: ExportedObject) => boolean
}

export function exportDocument({model, notRead, files, proof, leavesOut}: DocumentParts): ExportDocument {
  return {
    format: EXPORT_FORMAT,
    objects: model.stacks
      .flatMap(it => it.objects)
      .map(it => ({
        stack: it.stack,
        address: it.address,
        kind: it.kind.name,
        remoteId: it.remoteId,
        name: it.name ?? null,
        ...(it.parent === undefined ? {} : {parent: it.parent.remoteId}),
        spec: {...it.spec, ...it.unlisted},
        secrets: Object.keys(it.secrets).map(field => formatPointer([field])),
        leftOut: leavesOut?.(it) ? [...new Set([...Object.keys({...it.spec, ...it.unlisted}), ...it.leftOut])].sort() : [...it.leftOut],
      })),
    ...(model.undeclarable.length === 0
      ? {}
      : {undeclarable: model.undeclarable.map(it => ({...it, name: it.name ?? null, problems: [...it.problems]}))}),
    secrets: secretVariableNames(model),
    notRead: notRead.map(it => ({...it})),
    files: [...files].sort(),
    proof: proof.proof,
    ...(proof.why === undefined ? {} : {why: proof.why}),
    ...(proof.differs === undefined || proof.differs.length === 0
      ? {}
      : {differs: proof.differs.map(it => ({...it, paths: [...it.paths]}))}),
  }
}

/** `TF_VAR_…` of every secret. */
export const secretVariableNames = ({stacks}: ExportModel): string[] =>
  [...new Set(stacks.flatMap(it => it.objects).flatMap(it => Object.values(it.secrets)))].sort().map(it => `TF_VAR_${it}`)

/** As a file. */
export const documentText = (document: ExportDocument): string => withJsonBanner(jsonFields(document as JsonObject))

/** The schema as published, draft 2020-12. */
export const exportJsonSchema = (): Record<string, unknown> => ({
  ...z.toJSONSchema(exportSchema, {unrepresentable: 'any', reused: 'inline'}),
  title: 'An export of svcctl',
  description: 'What `svcctl export -o json` prints and `svcctl export --dir DIR` writes as export.json. It holds no secrets.',
})
