/** Whatever stands in the place of a block or an argument: an error, or the same stack; never silently less. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {isJsonObject, type Json, type JsonObject} from '../../../src/base/json.ts'
import {stackDocument} from '../../../src/declaration/files/stack-document.ts'
import {DeclarationError} from '../../../src/declaration/language/values/errors.ts'
import {readStacks} from '../../../src/declaration/read/read-stacks.ts'
import {givenValues} from '../../../src/declaration/read/variables.ts'

const ONE_LINE = {file: 'x', line: 1}

/** Every block and every argument that svcctl reads. */
const FULL: JsonObject = {
  '//': {svcctl: {cloud: {profile: 'prod', account: '77'}, cluster: {profile: 'lab'}, secrets: {pw: {version: '2'}}}},
  terraform: {
    required_version: '>= 1.5',
    required_providers: {null: {source: 'hashicorp/null', version: '~> 3.2'}},
    backend: {http: {address: 'https://state/shop', lock_address: 'https://state/shop/lock', retry_max: 3, skip_cert_verification: true}},
  },
  provider: {null: {}},
  variable: {pw: {type: 'string', sensitive: true, description: 'the password'}, size: {type: 'number', default: 2}},
  locals: {region: 'eu'},
  data: {terraform_remote_state: {net: {backend: 'local', config: {path: 'terraform.net.tfstate'}}}},
  resource: {
    null_resource: {
      orders: {
        triggers: {kind: 'cloud.subscription', spec: '{"name":"orders"}', policy: '{"exclusive":["databases"]}', 'out/status': ''},
        lifecycle: {prevent_destroy: true, ignore_changes: ['triggers["spec/name"]']},
      },
      cache: {
        for_each: {a: 'x'},
        triggers: {
          kind: 'cloud.database',
          spec: '{"name":"cache","memoryLimitInGb":1}',
          'spec/subscription': '${null_resource.orders.id}',
        },
        depends_on: ['null_resource.orders'],
        lifecycle: [{create_before_destroy: true}],
      },
    },
  },
  output: {
    secret: {value: '${var.pw}'},
    endpoint: {value: '${null_resource.orders.id}', sensitive: true, description: 'where', depends_on: ['null_resource.orders']},
  },
  moved: [{from: 'null_resource.old', to: 'null_resource.orders'}],
  removed: {from: 'null_resource.gone', lifecycle: {destroy: false}},
  import: [{to: 'null_resource.orders', id: 'cloud/subscriptions/12'}],
}

/** Values that are the user's own: another one is another stack, and no other shape. */
const OWN = [
  /^locals\.[^.]+/,
  /^variable\.[^.]+\.default/,
  /^output\.[^.]+\.value/,
  /^data\.[^.]+\.[^.]+\.config/,
  /for_each\.a/,
  /^provider\./,
  /required_providers\./,
  /triggers\.spec\//,
]
/** A comment, an argument that is left out, an empty set, no removals. */
const MEANT = new Set(['// "text"', 'ignore_changes null', 'depends_on null', 'for_each []', 'removed []', 'moved []', 'import []'])
const READ_ELSEWHERE = /^data\.[^.]+\.[^.]+\..+|^terraform\.required_/

function read(body: Json): unknown {
  const document = stackDocument('shop', undefined, [{name: 'cdk.tf.json', shown: 'cdk.tf.json', text: JSON.stringify(body)}])
  const given = givenValues({environment: {TF_VAR_pw: 'correct horse'}, files: [], commandLine: []})
  const {stacks} = readStacks({documents: [document], kinds, given, mode: 'plan', selected: new Set(['shop'])})
  return {
    stacks: stacks.map(stack => ({...stack, declarations: stack.declarations.map(it => ({...it, source: ONE_LINE}))})),
    provider: document.metadata,
  }
}

type Path = readonly (string | number)[]

function* places(value: Json, path: Path = []): Generator<{path: Path; value: Json}> {
  if (path.length > 0) yield {path, value}
  const items = Array.isArray(value) ? [...(value as readonly Json[]).entries()] : isJsonObject(value) ? Object.entries(value) : []
  for (const [key, item] of items) yield* places(item, [...path, key])
}

function replaced(value: Json, [step, ...rest]: Path, by: Json): Json {
  if (step === undefined) return by
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, at) => (at === step ? replaced(item, rest, by) : item))
  return isJsonObject(value) ? {...value, [step]: replaced(value[step] ?? null, rest, by)} : value
}

const text = (path: Path): string => path.join('.')

/** What in its place is another shape and not another value. */
function otherShapes(value: Json): readonly Json[] {
  if (Array.isArray(value) || isJsonObject(value)) return [5, 'text', true, null, [5], [null], [[]], ...(Array.isArray(value) ? [] : [[]])]
  return [{a: 1}, [1], [{}], ...(typeof value === 'boolean' ? ['yes', 5] : [true])]
}

const cases = [...places(FULL)]
  .filter(({path}) => !OWN.some(own => own.test(text(path))))
  .flatMap(({path, value}) => otherShapes(value).map(by => ({path: text(path), body: replaced(FULL, path, by), by})))
  .filter(({path, by}) => !MEANT.has(`${path.split('.').at(-1)} ${JSON.stringify(by)}`))

describe('the shape of a stack file', () => {
  const whole = read(FULL)

  it.each(cases.map(it => [it.path, JSON.stringify(it.by), it] as const))(
    '%s as %s is an error or changes nothing',
    (_, __, {path, body}) => {
      let got: unknown
      try {
        got = read(body)
      } catch (error) {
        expect(error).toBeInstanceOf(DeclarationError)
        expect((error as DeclarationError).exit).toBe(64)
        return
      }
      // Terraform's own business, of which svcctl reads nothing.
      if (!READ_ELSEWHERE.test(path)) expect(got).toEqual(whole)
    },
  )

  const problems = (body: Json): readonly string[] => {
    try {
      read(body)
    } catch (error) {
      if (error instanceof DeclarationError) return (error.problems ?? []).map(it => `${it.address} ${it.source}: ${it.message}`)
      throw error
    }
    return []
  }

  it.each([
    [{resource: 5}, 'resource cdk.tf.json:1: must be an object or a list of objects, and it is a number'],
    [
      {resource: {null_resource: {cache: null}}},
      'null_resource.cache cdk.tf.json:1: must be an object or a list of objects, and it is null',
    ],
    [{resource: {null_resource: []}}, 'null_resource cdk.tf.json:1: is an empty list: take it away, or write an object'],
    [{resources: {}}, 'resources cdk.tf.json:1: a stack has no block "resources" that svcctl reads: did you mean "resource"?'],
    [{variable: {pw: {sensitive: 'yes'}}}, 'variable.pw cdk.tf.json:1: sensitive must be true or false, and it is text'],
    [{output: {a: {}}}, 'output.a cdk.tf.json:1: an output needs "value"'],
    [{moved: 'a'}, 'moved cdk.tf.json:1: must be an object or a list of objects, and it is text'],
    [
      {removed: {from: 'null_resource.a', lifecycle: {destory: true}}},
      'removed cdk.tf.json:1: lifecycle of a removed block has no "destory": did you mean "destroy"?',
    ],
    [
      {import: {to: 'null_resource.a', id: 'x', for_each: {}}},
      'import cdk.tf.json:1: svcctl does not evaluate for_each of an import block: write one block for each object',
    ],
    [
      {terraform: {backend: {http: {address: 'https://x', lock_address: 5}}}},
      'terraform cdk.tf.json:1: backend.http.lock_address must be text, and it is a number',
    ],
    [{'//': {svcctl: {cloud: {account: ['77']}}}}, '//.svcctl cdk.tf.json:1: cloud.account must be text or a number, and it is a list'],
    [
      {resource: {null_resource: {a: {triggers: {kind: 'cluster.user', spec: '{}'}, depend_on: []}}}},
      'null_resource.a cdk.tf.json:1: a null_resource has no "depend_on": did you mean "depends_on"?',
    ],
  ] as const)('says what is expected and where of %j', (body, problem) => {
    expect(problems(body as Json)).toEqual([problem])
  })

  it('takes what Terraform takes: blocks as lists, text for a boolean, null for an argument that is left out, comments', () => {
    const object = {triggers: {kind: 'cloud.subscription', spec: '{"name":"orders"}'}, provider: null, depends_on: null}
    const plain = read({resource: {null_resource: {orders: {triggers: object.triggers, lifecycle: {prevent_destroy: true}}}}})
    expect(
      read({
        '//': 'made by hand',
        resource: [{'//': 'a', null_resource: [{'//': 'b', orders: [{...object, lifecycle: [{prevent_destroy: 'true'}], '//': 'c'}]}]}],
        moved: [],
        import: [],
        removed: [],
      }),
    ).toEqual(plain)
    const removed = (destroy: Json) => read({removed: {from: 'null_resource.gone', lifecycle: {destroy}}})
    expect(removed('false')).toEqual(removed(false))
    expect(removed('false')).not.toEqual(removed(true))
  })

  it('takes a sensitive variable for one when the boolean is written as text', () => {
    const body = (sensitive: Json): Json => ({
      variable: {pw: {sensitive}},
      resource: {null_resource: {u: {triggers: {kind: 'cluster.user', spec: '{"name":"u"}', 'spec/email': '${var.pw}'}}}},
    })
    expect(read(body('true'))).toEqual(read(body(true)))
    expect(JSON.stringify(read(body('true')))).not.toEqual(JSON.stringify(read(body(false))))
  })
})
