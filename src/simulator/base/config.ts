/**
 * Everything that can be set about the simulated services. The file of `svcctl simulator --config`, the control
 * API's `/config` and `createSimulator({config})` all have this shape; every field has a default.
 *
 * `spelling` is a preset: `contract` answers exactly as the contract shows, `wire` answers the other spelling of each
 * row of the wire facts. Fields written beside it win over the preset.
 */
import {z} from 'zod'
import {isJsonObject} from '../../base/json.ts'
import {LISTS, READY_BY_KIND} from './collections.ts'
import {fault} from './fault-rule.ts'
import {worldEdit} from './world-edit.ts'

/** Milliseconds; a range is drawn from by the seed. */
const duration = z.union([z.number().min(0), z.strictObject({min: z.number().min(0), max: z.number().min(0)})])

const rateLimit = z.strictObject({
  perMinute: z.number().positive().default(100),
  burst: z.number().int().positive().default(150),
  /** Requests a minute that somebody else spends from the same account. */
  foreignPerMinute: z.number().min(0).default(0),
})
export type RateLimit = z.output<typeof rateLimit>

const paging = z.strictObject({
  /** The largest page; `null`: no limit. */
  maxLimit: z.number().int().positive().nullable().default(null),
  /** What a larger `limit` gets: a silent cap or a 400. */
  largeLimit: z.enum(['cap', 'refuse']).default('cap'),
  /** Rows of a page when no `limit` is asked for; `null`: all. */
  defaultLimit: z.number().int().positive().nullable().default(null),
  /** Answer page one whatever `limit` and `offset` say; `'offset'`: as much of it as `limit` and `maxLimit` allow. */
  ignored: z.union([z.boolean(), z.literal('offset')]).default(false),
  pastEnd: z.enum(['empty', '404']).default('empty'),
})
export type Paging = z.output<typeof paging>

const cloud = z.strictObject({
  /** Writes answer a task; `false`: they are done at once. */
  asynchronous: z.boolean().default(true),
  /** Status of an asynchronous answer. */
  taskAnswer: z.union([z.literal(200), z.literal(201), z.literal(202)]).default(202),
  /** What a synchronous write answers. */
  synchronousAnswer: z.enum(['object', 'empty', 'no-content']).default('object'),
  /** How long a task runs; by command type where one is named. */
  taskMs: duration.default(200),
  taskMsByCommand: z.record(z.string(), duration).default({}),
  /** From the end of the task until the object is `active`. */
  readyMs: duration.default(200),
  readyMsByKind: z.partialRecord(z.enum(READY_BY_KIND), duration).default({}),
  /** When a new object can be seen: as soon as the request is accepted, or when its task is done. */
  appears: z.enum(['accepted', 'completed']).default('completed'),
  /** How long lists show the state before a change. */
  listLagMs: z.number().min(0).default(0),
  lists: z.enum(['bare', 'wrapped', 'nested']).default('bare'),
  emptyDatabaseList: z.enum(['empty', '404']).default('empty'),
  /** Lists that answer 202 with a task whose `response.resource` is the list. */
  asynchronousLists: z.array(z.enum(LISTS)).default([]),
  sparseLists: z.boolean().default(false),
  /** Rows of peerings have nothing but an id and a status. */
  sparsePeerings: z.boolean().default(false),
  /** Lists and lists inside objects come in an order of their own. */
  shuffled: z.boolean().default(false),
  ids: z.enum(['id', 'named']).default('id'),
  idType: z.enum(['number', 'string']).default('number'),
  /** `region` or `regionName`, `role` or `acl`, and so on. */
  names: z.enum(['declared', 'renamed']).default('declared'),
  singlePrecision: z.boolean().default(false),
  defaultsFilled: z.boolean().default(false),
  extraModules: z.array(z.string()).default([]),
  aclRespaced: z.boolean().default(false),
  /** Declared fields that are accepted and then forgotten. */
  ignoredFields: z.array(z.string()).default([]),
  taskWords: z.enum(['contract', 'long']).default('contract'),
  taskError: z.enum(['object', 'text']).default('object'),
  taskResourceId: z.boolean().default(true),
  /** How many reads of a new task answer 404. */
  taskNotFoundReads: z.number().int().min(0).default(0),
  /** What `GET /tasks` shows. */
  taskList: z
    .strictObject({
      maxRows: z.number().int().positive().nullable().default(null),
      runningOnly: z.boolean().default(false),
      served: z.boolean().default(true),
    })
    .prefault({}),
  errors: z.enum(['contract', 'spring', 'text', 'empty']).default('contract'),
  /** The body of a 401, 403 and 429. */
  plainErrors: z.enum(['same', 'text', 'empty']).default('same'),
  rateLimit: rateLimit.nullable().default(null),
  rateHeaders: z.enum(['x-ratelimit', 'x-rate-limit', 'none']).default('x-ratelimit'),
  retryAfter: z.enum(['seconds', 'date', 'none']).default('none'),
  paging: paging.prefault({}),
  /** What a write gets while something else in the same subscription changes. */
  busy: z.enum(['allow', '409', 'task']).default('allow'),
  /** A subscription is not active while one of its databases changes. */
  followsDatabases: z.boolean().default(false),
  maxPendingSubscriptions: z.number().int().positive().nullable().default(null),
  /** More running changes than this in the account: 429. */
  maxConcurrentChanges: z.number().int().positive().nullable().default(null),
  requireInlineDatabases: z.boolean().default(false),
  deleteNotEmpty: z.enum(['409', 'task']).default('409'),
  /** A PUT that repeats the object's own name is refused. */
  refuseUnchangedName: z.boolean().default(false),
  /** An ACL user's role must be a rule of the same database, and active. */
  checkRoles: z.boolean().default(false),
  /** From the end of its task until an ACL rule or user is `active`; shown where `defaultsFilled` shows a status at all. */
  aclReadyMs: duration.default(0),
  peeringStatus: z.enum(['active', 'inactive', 'pending-acceptance']).default('pending-acceptance'),
  /** Method and path patterns (`DELETE /subscriptions/*`) that these credentials may not use: 403. */
  forbidden: z.array(z.string()).default([]),
})
export type CloudConfig = z.output<typeof cloud>

const debuginfo = z.strictObject({
  families: z.enum(['old', 'new', 'both']).default('both'),
  /** What the other family answers. */
  missing: z.union([z.literal(404), z.literal(410)]).default(404),
  asynchronous: z.boolean().default(false),
  generateMs: z.number().min(0).default(2000),
  asynchronousFails: z.boolean().default(false),
  downloadUrl: z.boolean().default(true),
  firstByteMs: z.number().min(0).default(0),
  /** Size of all logs together before compression. */
  sizeBytes: z.number().int().min(0).default(2_000_000),
  body: z.enum(['archive', 'truncated', 'html', 'empty']).default('archive'),
  /** Answers `Range` and says `Accept-Ranges`. */
  ranges: z.boolean().default(false),
})

const cluster = z.strictObject({
  /** How long a database stays in `pending`, `active-change-pending`, `delete-pending`. */
  changeMs: duration.default(200),
  listLagMs: z.number().min(0).default(0),
  shuffled: z.boolean().default(false),
  defaultsFilled: z.boolean().default(false),
  paging: paging.prefault({}),
  errors: z.enum(['code', 'message', 'html', 'empty']).default('code'),
  /** Writes of nodes, policy, settings and users answer an empty body. */
  emptyBodies: z.boolean().default(false),
  /** Whether `/v1/actions` exists. */
  actions: z.boolean().default(true),
  actionProgress: z.enum(['number', 'string']).default('number'),
  /** What a write gets while the same database changes. */
  busy: z.enum(['allow', '409', '406']).default('allow'),
  /** Every request answers 503: the node is starting. */
  notReady: z.boolean().default(false),
  rateLimit: rateLimit.nullable().default(null),
  /** A node that is not the primary: where it sends its clients. */
  redirect: z
    .strictObject({
      status: z.union([z.literal(301), z.literal(302), z.literal(303), z.literal(307), z.literal(308)]).default(307),
      /** Another base address; default: this one, below `/primary`. */
      to: z.string().optional(),
      methods: z.array(z.string()).default([]),
    })
    .nullable()
    .default(null),
  v2: z.boolean().default(true),
  moduleUpload: z.enum(['v2', 'v1', 'none']).default('v2'),
  moduleIds: z.enum(['number', 'hex']).default('number'),
  moduleAction: z.boolean().default(false),
  endpointStats: z.enum(['contract', 'intervals', 'none']).default('contract'),
  availability: z
    .strictObject({path: z.enum(['bdbs', 'local', 'none']).default('bdbs'), body: z.enum(['empty', 'record']).default('empty')})
    .prefault({}),
  debuginfo: debuginfo.prefault({}),
  forbidden: z.array(z.string()).default([]),
})

const uploads = z.strictObject({
  partSizeBytes: z
    .number()
    .int()
    .positive()
    .default(5 * 1024 * 1024),
  expiresMs: z
    .number()
    .positive()
    .default(15 * 60_000),
  sessionMs: z
    .number()
    .positive()
    .default(3 * 24 * 3_600_000),
  /** Files up to this size are hashed as a whole; of larger ones the hashes of the parts and the size are known. */
  keepBytes: z
    .number()
    .int()
    .min(0)
    .default(64 * 1024 * 1024),
})

const credentials = z.strictObject({
  apiKey: z.string().min(1).default('simulator-key'),
  secretKey: z.string().min(1).default('simulator-secret'),
  username: z.string().min(1).default('admin@cluster.local'),
  password: z.string().min(1).default('simulator-password'),
  filesApiKey: z.string().min(1).default('simulator-files-key'),
})

export const simulatorConfig = z.strictObject({
  spelling: z.enum(['contract', 'wire']).default('contract'),
  credentials: credentials.prefault({}),
  /** How long each answer takes. */
  latencyMs: duration.default(0),
  /** How long a hanging request is held when its client never gives up. */
  hangMs: z
    .number()
    .positive()
    .default(24 * 3_600_000),
  cloud: cloud.prefault({}),
  cluster: cluster.prefault({}),
  uploads: uploads.prefault({}),
  faults: z.array(fault).default([]),
  /** What is there at the start, made one after the other: `{"path": "cloud/subscriptions", "create": {"name": "a"}}`. */
  start: z.array(worldEdit).default([]),
})
export type SimulatorConfig = z.output<typeof simulatorConfig>
/** What may be given: any part of it. */
export type SimulatorConfigInput = z.input<typeof simulatorConfig>

/** The other spelling of each row of the wire facts. */
const WIRE: SimulatorConfigInput = {
  cloud: {
    lists: 'nested',
    ids: 'named',
    idType: 'string',
    names: 'renamed',
    emptyDatabaseList: '404',
    paging: {pastEnd: '404', maxLimit: 100},
    sparseLists: true,
    shuffled: true,
    singlePrecision: true,
    defaultsFilled: true,
    extraModules: ['timeseries'],
    aclRespaced: true,
    taskWords: 'long',
    taskResourceId: false,
    taskNotFoundReads: 2,
    taskError: 'object',
    errors: 'spring',
    plainErrors: 'text',
    rateHeaders: 'x-rate-limit',
    retryAfter: 'date',
    asynchronousLists: ['peerings'],
    listLagMs: 300,
    appears: 'accepted',
    busy: '409',
    followsDatabases: true,
    maxPendingSubscriptions: 3,
    deleteNotEmpty: 'task',
  },
  cluster: {
    errors: 'message',
    emptyBodies: true,
    actionProgress: 'string',
    shuffled: true,
    defaultsFilled: true,
    listLagMs: 300,
    busy: '409',
    moduleUpload: 'v1',
    moduleIds: 'hex',
    moduleAction: true,
    endpointStats: 'intervals',
    availability: {path: 'local'},
    debuginfo: {families: 'old', asynchronous: true},
  },
}

const PRESETS: Readonly<Record<SimulatorConfig['spelling'], SimulatorConfigInput>> = {contract: {}, wire: WIRE}

/** Objects are merged key by key; everything else is replaced. */
function merged(base: unknown, patch: unknown): unknown {
  if (patch === undefined) return base
  if (!isJsonObject(base) || !isJsonObject(patch)) return patch
  const out: Record<string, unknown> = {...base}
  for (const [key, value] of Object.entries(patch)) out[key] = merged(out[key], value)
  return out
}

/**
 * The configuration that results from a patch. Naming a `spelling` starts from that preset again, keeping the
 * credentials.
 * @throws z.ZodError when a field is unknown or has a wrong value
 */
export function configured(patch: unknown, current?: SimulatorConfig): SimulatorConfig {
  const spelling = isJsonObject(patch) ? patch.spelling : undefined
  const preset = spelling === 'contract' || spelling === 'wire' ? PRESETS[spelling] : {}
  const base = spelling === undefined && current ? current : {credentials: current?.credentials, ...preset}
  return simulatorConfig.parse(merged(base, patch))
}
