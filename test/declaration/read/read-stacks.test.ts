import {describe, expect, it} from 'vitest'
import {AppError} from '../../../src/base/errors.ts'
import type {JsonObject} from '../../../src/base/json.ts'
import {MOST_NAMESAKES} from '../../../src/engine/model/namesakes.ts'
import {Deferred, Secret} from '../../../src/engine/model/value.ts'
import {declarationOf, messagesOf, problemsOf, read, readAll, type StackText} from './read-stack.ts'

const shop: StackText = {
  objects: {
    orders: ['cloud.subscription', {name: 'orders'}],
    cache: ['cloud.database', {name: 'cache', memoryLimitInGb: 1}, {'spec/subscription': '${null_resource.orders.id}'}],
  },
}
const withObjects = (objects: NonNullable<StackText['objects']>, blocks: StackText = {}): StackText => ({
  ...blocks,
  objects: {...shop.objects, ...objects},
})
const pw = {pw: {type: 'string', sensitive: true}}
const environment = {TF_VAR_pw: 'correct horse'}

describe('reading a stack', () => {
  it('gives each object its address, kind, fields without the parent, and where it was written', () => {
    expect(declarationOf(read(shop), 'cache')).toEqual({
      stack: 'shop',
      address: 'null_resource.cache',
      key: 'shop:null_resource.cache',
      kind: 'cloud.database',
      spec: {name: 'cache', memoryLimitInGb: 1},
      parent: {by: 'key', key: 'shop:null_resource.orders'},
      dependsOn: [],
      policy: {exclusive: [], removal: 'delete', ignoreChanges: [], preventDestroy: false, createBeforeDestroy: false},
      outputs: [],
      source: {file: 'shop/cdk.tf.json', line: 10},
      clearSecrets: [],
    })
  })

  it("refuses a name that no ledger can hold: what is made of it would be nobody's", () => {
    for (const name of ['x y', '$(x)', '', '1a', '-a', 'a.b', 'a[0]', 'a\nb'])
      expect(
        messagesOf(() => read({objects: {[name]: ['cloud.subscription', {name: 'orders'}]}})),
        name,
      ).toEqual([expect.stringContaining(`${JSON.stringify(name)} is no name of a resource`)])
    for (const name of ['x', '_x-1', 'ünï', 'constructor'])
      expect(read({objects: {[name]: ['cloud.subscription', {name: 'orders'}]}}).declarations).toHaveLength(1)
  })

  it('takes the construct path and the line that a construct noted', () => {
    const notes = {'//': {metadata: {path: 'shop/orders', uniqueId: 'orders'}, svcctl: {source: 'stacks/shop.ts:12'}}}
    const {source} = declarationOf(read({objects: {orders: ['cloud.subscription', {name: 'orders'}, {}, notes]}}), 'orders')
    expect(source).toEqual({construct: 'shop/orders', file: 'stacks/shop.ts', line: 12})
  })

  it('leaves the file out of what was synthesized into a folder that is gone, and keeps a ledger file of the stack', () => {
    const stack = read({...shop, terraform: {backend: {local: {path: '/somewhere/else/terraform.shop.tfstate'}}}})
    expect(stack.ledger).toEqual({type: 'local', file: 'terraform.shop.tfstate'})
    expect(read(shop).ledger).toEqual({type: 'local', file: 'terraform.shop.tfstate'})
    const chosen = (path: string) => read({...shop, terraform: {backend: {local: {path}}}}).ledger
    expect(chosen('../state/shop.tfstate')).toEqual({type: 'local', file: 'shop.tfstate'})
    expect(chosen('/var/lib/state/shop.tfstate')).toEqual({type: 'local', file: '/var/lib/state/shop.tfstate'})
  })

  it('reads http ledgers, targets and secret versions', () => {
    const stack = read(
      {
        terraform: {backend: {http: {address: 'https://state/shop', lock_address: 'https://state/shop/lock', retry_max: 3}}},
        '//': {svcctl: {cloud: {profile: 'prod', account: '77'}, secrets: {pw: {version: '2'}}}},
        variable: pw,
        objects: {u: ['cluster.user', {name: 'u'}, {'spec/password': '${var.pw}'}]},
      },
      {variables: {environment}},
    )
    expect(stack.ledger).toEqual({type: 'http', address: 'https://state/shop', lockAddress: 'https://state/shop/lock', retryMax: 3})
    expect(stack.targets).toEqual({cloud: {profile: 'prod', account: '77'}})
    expect(declarationOf(stack, 'u').spec.password).toEqual(new Secret('correct horse', '${var.pw}', '2'))
  })

  it.each([
    [{terraform: {backend: {s3: {}}}}, 'terraform.backend: svcctl keeps no ledger in a backend "s3": use local or http'],
    [{terraform: {cloud: {}}}, 'terraform.backend: svcctl keeps no ledger in cloud: use the backend local or http'],
    [
      {terraform: {backend: {http: {adress: 'x'}}}},
      'terraform.backend: svcctl does not know adress of the backend http: did you mean "address"?',
    ],
  ])('refuses the backend of %j by name', (text, message) => {
    expect(messagesOf(() => read(text))).toContain(message)
  })

  it('refuses two stacks with one ledger', () => {
    const terraform = {backend: {local: {path: 'terraform.tfstate'}}}
    expect(messagesOf(() => readAll({a: {terraform}, b: {terraform}}))).toEqual([
      'b:terraform.backend: its ledger is file terraform.tfstate, and so is that of stack a: give each stack its own',
    ])
  })

  it('passes over what stops plain Terraform', () => {
    const variable = {svcctl_only: {type: 'string', default: 'x', validation: [{condition: '${var.svcctl_only != var.svcctl_only}'}]}}
    expect(read({...shop, variable}).declarations).toHaveLength(2)
  })
})

describe('fields', () => {
  it('are brought to the type of their kind', () => {
    const spec = {name: 7, memoryLimitInGb: '2', replication: 'true', backup: {interval: '6'}}
    const {cache} = {cache: declarationOf(read(withObjects({two: ['cloud.database', spec, {'spec/subscription': '12'}]})), 'two')}
    expect(cache.spec).toEqual({name: '7', memoryLimitInGb: 2, replication: true, backup: {interval: 6}})
  })

  it('that are null are so where their kind has no say in it, and wrong where it has none', () => {
    const stack = read({objects: {policy: ['cluster.policy', {upgrade: null, nested: {deep: null, list: [null, 0, false, []]}}]}})
    expect(declarationOf(stack, 'policy').spec).toEqual({upgrade: null, nested: {deep: null, list: [null, 0, false, []]}})
    const spec = {name: 'a', memoryLimitInGb: 1, subscription: '12', port: null, backup: {enabled: null}, alerts: null}
    expect(messagesOf(() => read({objects: {a: ['cloud.database', spec], s: ['cluster.settings', {license: null}]}}))).toEqual([
      'null_resource.a /port: "port" must be a number, not null',
      'null_resource.a /alerts: "alerts" must be a list, not null',
      'null_resource.a /backup/enabled: "enabled" must be true or false, not null',
      'null_resource.s /license: "license" must be text, not null',
    ])
  })

  it('whose expression gives null are left out, secret ones too', () => {
    const variable = {none: {type: 'string', default: null, nullable: true}, hidden: {type: 'string', default: null, sensitive: true}}
    const hoisted = {
      'spec/port': '${var.none}',
      'spec/license': '${var.hidden}',
      'spec/nested/deep': '${var.none}',
      'json/rules': '${jsonencode({a = var.none, b = 1})}',
    }
    const stack = read({objects: {policy: ['cluster.policy', {nested: {kept: 0}}, hoisted]}, variable})
    expect(declarationOf(stack, 'policy').spec).toEqual({nested: {kept: 0}, rules: {b: 1}})
  })

  it('are unescaped, and an expression typed into the spec stays text with a warning', () => {
    const stack = read({objects: {a: ['cloud.subscription', '{"name": "a $${x} %%{y}", "note": "${z}"}']}})
    expect(declarationOf(stack, 'a').spec).toEqual({name: 'a ${x} %{y}', note: '${z}'})
    expect(stack.warnings).toEqual([
      'null_resource.a: the spec holds ${…} written by hand, which is taken as text; an expression goes to the trigger "spec/<pointer>"',
    ])
  })

  it('that are wrong are said all at once, with pointer, expectation, what is there, and the nearest spelling', () => {
    const text = withObjects({
      a: ['cloud.database', {memoryLimitInGB: 1, name: 'a', subscription: 'x'}],
      b: ['cloud.database', {memoryLimitInGb: 'much', subscription: 'x', port: 70000, modules: [{nam: 'json'}]}],
      c: ['cloud.databse', {}],
    })
    expect(messagesOf(() => read(text))).toEqual([
      'null_resource.c: there is no kind "cloud.databse": did you mean "cloud.database"?',
      'null_resource.a /memoryLimitInGB: a cloud.database has no field "memoryLimitInGB": did you mean "memoryLimitInGb"?',
      'null_resource.b /modules/0/nam: /modules/0 has no field "nam": did you mean "name"?',
      'null_resource.b /name: "name" is missing: text is required',
      'null_resource.b /memoryLimitInGb: "memoryLimitInGb" must be a number, not the text "much"',
      'null_resource.b /port: "port" must be at most 65535, not 70000',
    ])
    expect(problemsOf(() => read(text))[0]).toMatchObject({source: 'shop/cdk.tf.json:29'})
  })

  it('that are not JSON are named by their place, and never quoted', () => {
    expect(messagesOf(() => read({objects: {a: ['cluster.user', '{"name": "a", "password": hunter2}']}}))).toEqual([
      'null_resource.a: the trigger "spec" is not JSON: a value is expected at character 27',
      'null_resource.a /name: "name" is missing: text is required',
    ])
  })

  it('of a kind that takes unknown fields pass through; one that is almost a known one is refused, or a warning when it is short', () => {
    const stack = read({objects: {a: ['cloud.subscription', {name: 'a', deploymentType: 'x', nam: 'y'}]}})
    expect(declarationOf(stack, 'a').spec).toEqual({name: 'a', deploymentType: 'x', nam: 'y'})
    expect(stack.warnings).toEqual(['null_resource.a: the field "nam" is passed on as it is; did you mean "name"?'])
    for (const field of ['paymentMethd', 'paymentmethodid', 'cloud_providers']) {
      const text: StackText = {objects: {a: ['cloud.subscription', {name: 'a', [field]: 'x'}]}}
      for (const mode of ['plan', 'validate'] as const)
        expect(messagesOf(() => read(text, {mode}))[0]).toMatch(`/${field}: a cloud.subscription has no field "${field}": did you mean`)
    }
  })

  it('of a peering name the other network', () => {
    const peering = (spec: object) => () => read({objects: {p: ['cloud.peering', {subscription: '1', ...spec}]}})
    expect(messagesOf(peering({region: 'us-east-1'}))[0]).toContain('a peering needs what tells the other network: region, awsAccountId')
    expect(messagesOf(peering({provider: 'Azure', vnetId: 'net'}))).toEqual([])
  })

  it.each([
    ['AWS', {region: 'us-east-1', awsAccountId: '1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'}],
    ['GCP', {vpcProjectUid: 'net', vpcNetworkName: 'main'}],
  ])('of a peering with %s are all of its group, with the provider or without, whatever is not known yet', (provider, group) => {
    const peering = (spec: object, expressions = {}) => {
      const text: StackText = {
        objects: {
          p: ['cloud.peering', {subscription: '1', ...spec}, expressions],
          d: ['cloud.database', {subscription: '1', name: 'd', memoryLimitInGb: 1}],
        },
      }
      return (['plan', 'validate'] as const).map(mode => messagesOf(() => read(text, {mode})))
    }
    expect(peering(group)).toEqual([[], []])
    for (const missing of Object.keys(group)) {
      const {[missing]: _, ...rest} = group as Record<string, string>
      const [later] = Object.keys(rest)
      const {[later ?? '']: __, ...others} = rest
      const said = [
        `null_resource.p /${missing}: a peering with a network of ${provider} needs ${Object.keys(group).join(', ')}: ${missing} is missing`,
      ]
      expect(peering({provider, ...rest})).toEqual([said, said])
      expect(peering(rest)).toEqual([said, said])
      const open = {[`spec/${later}`]: '${null_resource.d.id}'}
      expect(peering({provider, ...others}, open)).toEqual([said, said])
    }
  })

  it.each([
    [{protocol: 'reds'}, '/protocol: "protocol" must be one of "redis", "memcached", not the text "reds": did you mean "redis"?'],
    [{dataPersistence: 'aof-every-1-secnd'}, ': did you mean "aof-every-1-second"?'],
    [{dataEvictionPolicy: 'allkeys_lru'}, ': did you mean "allkeys-lru"?'],
    [
      {throughputMeasurement: {by: 'shards'}},
      '/throughputMeasurement/by: "by" must be one of "operations-per-second", "number-of-shards", not the text "shards"',
    ],
    [{alerts: [{name: 'dataset_size', value: 80}]}, '/alerts/0/name: "name" must be "dataset-size", not the text "dataset_size"'],
    [{alerts: [{name: 'syncsource-lags', value: 80}]}, '"name" must be "syncsource-lag", not the text "syncsource-lags"'],
    [{dataPersistence: 5}, 'not the text "5"'],
  ])('that take certain words refuse others, as in %j', (fields, problem) => {
    const spec = {name: 'd', memoryLimitInGb: 1, subscription: '1'}
    for (const mode of ['plan', 'validate'] as const)
      expect(messagesOf(() => read({objects: {d: ['cloud.database', {...spec, ...fields}]}}, {mode}))).toEqual([
        expect.stringContaining(problem),
      ])
  })

  it('take every word that is known, alerts that nobody has listed, and expressions', () => {
    const words = {protocol: 'memcached', dataPersistence: 'snapshot-every-12-hours', dataEvictionPolicy: 'volatile-ttl'}
    const alerts = ['datasets-size', 'latency', 'latency-p99', 'disk-full'].map(name => ({name, value: 1}))
    const spec = {name: 'd', memoryLimitInGb: 1, subscription: '1', ...words, throughputMeasurement: {by: 'number-of-shards'}, alerts}
    expect(messagesOf(() => read({objects: {d: ['cloud.database', spec]}}))).toEqual([])
    const text: StackText = {
      objects: {d: ['cloud.database', {name: 'd', memoryLimitInGb: 1, subscription: '1'}, {'spec/dataPersistence': '${var.how}'}]},
      variable: {how: {type: 'string', default: 'non'}},
    }
    expect(messagesOf(() => read(text))).toEqual([expect.stringContaining('not the text "non": did you mean "none"?')])
  })

  it.each(['TfToken[TOKEN.3]', '<unresolved-token>', '-1.8881545897087503e+289'])('that hold %s name the construct', leftover => {
    const notes = {'//': {metadata: {path: 'shop/deep/a'}}}
    const [problem] = problemsOf(() => read({objects: {a: ['cloud.subscription', {name: leftover}, {}, notes]}}))
    expect(problem?.message).toContain('which a token of cdktf left')
    expect(problem?.source).toContain('shop/deep/a')
  })
})

describe('expressions', () => {
  const name = (expression: string, blocks: StackText = {}, options = {}) =>
    declarationOf(read({...blocks, objects: {a: ['cloud.subscription', {}, {'spec/name': expression}], ...blocks.objects}}, options), 'a')
      .spec.name

  it.each([
    ['a-${var.v}', 'a-eu'],
    ['${var.list[1]}', 'y'],
    ['${var.map["k"]}-${var.map.k}', 'v-v'],
    ['${local.deep.x}', 'eu!'],
    ['${terraform.workspace}', 'default'],
    ['${join("-", var.list)}', 'x-y'],
    ['${lookup(var.map, "none", "d")}', 'd'],
    ['${element(var.list, 3)}', 'y'],
    ['${element(keys(var.map), 0)}${element(values(var.map), 0)}', 'kv'],
    ['${join("", toset(["b", "a", "b"]))}', 'ab'],
    ['${upper("aß")}${lower("B")}', 'Aßb'],
    ['${jsonencode([1000000000000000000000, 0.0000001, 1.50, null])}', '[1000000000000000000000,0.0000001,1.5,null]'],
    ['${jsonencode({b = 1, a = "<"})}', '{"a":"\\u003c","b":1}'],
    ['$${x} ${1000000000000000000000}', '${x} 1000000000000000000000'],
    ['${[for x in var.list : "${x}!" if x != "x"][0]}', 'y!'],
    ['${var.v == "eu" ? "near" : "far"}', 'near'],
    ['${format("%s-%02d", var.v, length(var.list) + 1)}', 'eu-03'],
  ])('%s is %j', (expression, value) => {
    const blocks = {
      variable: {v: {default: 'eu'}, list: {type: 'list(string)', default: ['x', 'y']}, map: {default: {k: 'v'}}},
      locals: {deep: {x: '${local.other}!'}, other: '${var.v}'},
    }
    expect(name(expression, blocks)).toBe(value)
  })

  it.each([
    ['${timestamp()}', 'svcctl does not evaluate the function timestamp'],
    ['${uper("a")}', 'svcctl does not evaluate the function uper (is upper meant?)'],
    ['${file("x")}', 'svcctl does not evaluate the function file'],
    ['%{ if true }a%{ endif }', 'svcctl does not evaluate a template directive'],
    ['${1 + "x"}', 'an operand of + must be a number, and it is text that spells none'],
    ['${tolist([[1], "a"])[0]}', 'tolist: the items have different types'],
    ['${path.module}', 'svcctl does not evaluate path'],
    ['${aws_vpc.x.id}', '"aws_vpc" means nothing here'],
    ['${var.vv}', 'no variable is called "vv": did you mean "v"?'],
    ['${each.key}', 'each stands only in an object with for_each'],
  ])('%s is refused by name, with the place and a way out', (expression, message) => {
    const [problem] = problemsOf(() => name(expression, {variable: {v: {default: 'x'}}}))
    expect(problem).toMatchObject({address: 'null_resource.a', path: '/name', source: 'shop/cdk.tf.json:4'})
    expect(problem?.message).toContain(message)
    expect(problem?.message).toMatch(/character \d+/)
  })

  it('of lists and objects keep their structure and their open parts', () => {
    const blocks = {
      variable: {...pw, regions: {type: 'list(object({region = string}))', default: [{region: 'eu'}]}},
      objects: {
        two: [
          'cloud.subscription',
          {},
          {'spec/name': 'x', 'json/cloudProviders': '${jsonencode([{"provider" = var.pw, "regions" = var.regions}])}'},
        ],
      } as const,
    }
    const spec = declarationOf(read(blocks, {variables: {environment}}), 'two')
    expect(spec.spec.cloudProviders).toEqual([{provider: new Secret('correct horse', '${var.pw}'), regions: [{region: 'eu'}]}])
  })

  it('fill the slots of lists', () => {
    const text = withObjects({
      two: [
        'cloud.database',
        {name: 'two', memoryLimitInGb: 1, modules: [null, {name: 'search'}]},
        {'spec/subscription': 'x', 'spec/modules/0/name': '${upper("json")}'},
      ],
    })
    expect(declarationOf(read(text), 'two').spec.modules).toEqual([{name: 'JSON'}, {name: 'search'}])
  })
})

describe('secrets and values known later', () => {
  const two = (triggers: {[key: string]: string}, spec = {}) =>
    withObjects({two: ['cloud.acl_user', {name: 'two', database: '1', ...spec}, triggers]}, {variable: pw})

  it('a sensitive variable is secret in every text it becomes part of, and its value stands in no expression', () => {
    const {spec} = declarationOf(read(two({'spec/password': 'x-${upper(var.pw)}'}), {variables: {environment}}), 'two')
    expect(spec.password).toEqual(new Secret('x-CORRECT HORSE', 'x-${upper(var.pw)}'))
    expect(JSON.stringify(spec)).not.toMatch(/horse/i)
  })

  it('an id is known later, and everything around it is text already', () => {
    const text = {...two({'spec/note': '${local.region}/${null_resource.cache.id}/${var.pw}'}), locals: {region: 'eu'}}
    const {spec, dependsOn} = declarationOf(read(text, {variables: {environment}}), 'two')
    expect(spec.note).toEqual(new Deferred('eu/${null_resource.cache.id}/${var.pw}', ['shop:null_resource.cache'], true))
    expect(dependsOn).toEqual([{key: 'shop:null_resource.cache', reason: 'reference'}])
  })

  it('a field the declaration states is answered from it, with the order it implies; any other is known later', () => {
    const text = withObjects({
      two: [
        'cloud.acl_user',
        {name: 'two', database: '1'},
        {'spec/role': '${null_resource.cache.triggers["out/name"]}', 'spec/at': '${null_resource.cache.triggers["out/publicEndpoint"]}'},
      ],
    })
    const {spec, dependsOn} = declarationOf(read(text), 'two')
    expect(spec.role).toBe('cache')
    expect(spec.at).toEqual(new Deferred('${null_resource.cache.triggers["out/publicEndpoint"]}', ['shop:null_resource.cache'], false))
    expect(dependsOn).toEqual([{key: 'shop:null_resource.cache', reason: 'reference'}])
  })

  it('a value known later for a number is converted when it is there', () => {
    const text = withObjects({
      two: [
        'cloud.database',
        {name: 'two', memoryLimitInGb: 1, subscription: 'x'},
        {'spec/port': '${null_resource.cache.triggers["out/port"]}'},
      ],
    })
    expect(declarationOf(read(text), 'two').spec.port).toEqual(
      new Deferred('${convert(null_resource.cache.triggers["out/port"], number)}', ['shop:null_resource.cache'], false),
    )
  })

  it('a secret in clear is kept out of plans, with a warning', () => {
    const stack = read(two({}, {password: 'in-clear'}), {variables: {environment}})
    const {spec, clearSecrets} = declarationOf(stack, 'two')
    expect(spec.password).toEqual(new Secret('in-clear'))
    expect(clearSecrets).toEqual(['/password'])
    expect(stack.warnings).toEqual([
      'null_resource.two: /password is a secret written in clear in the stack: give it through a sensitive variable (secret())',
    ])
  })

  it('the default of a sensitive variable is in clear too', () => {
    const text = {...two({'spec/password': '${var.pw}'}), variable: {pw: {sensitive: true, default: 'dflt'}}}
    expect(declarationOf(read(text), 'two')).toMatchObject({clearSecrets: ['/password'], spec: {password: new Secret('dflt')}})
  })

  it.each([
    ['cloud.subscription', {}, 'name', '${var.pw}'],
    ['cloud.subscription', {}, 'name', 'main-${var.pw}'],
    ['cluster.user', {email: 'a@b.c', role: 'admin'}, 'name', '${var.pw}'],
    ['cloud.peering', {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcCidr: '10.0.0.0/16'}, 'vpcId', '${var.pw}'],
  ])(
    'what a %s is found by cannot be secret: nothing would be found by it, after a lost answer least of all',
    (kind, fields, field, text) => {
      const more: Readonly<Record<string, string>> = kind === 'cloud.peering' ? {'spec/subscription': '${null_resource.orders.id}'} : {}
      const blocks = {variable: pw}
      const objects = withObjects({two: [kind, fields, {...more, [`spec/${field}`]: text}]}, blocks)
      expect(messagesOf(() => read(objects, {variables: {environment}})).join()).toContain(`"${field}" is secret, and a `)
    },
  )

  it('a secret does not leave through a problem', () => {
    const text = withObjects(
      {two: ['cloud.database', {name: 't', subscription: 'x'}, {'spec/memoryLimitInGb': '${var.pw}'}]},
      {variable: pw},
    )
    const messages = messagesOf(() => read(text, {variables: {environment}}))
    expect(messages).toEqual(['null_resource.two /memoryLimitInGb: "memoryLimitInGb" must be a number, not what the secret holds'])
  })

  it('a variable without a value stops a plan by name, and is unknown to validate', () => {
    expect(messagesOf(() => read(two({'spec/password': '${var.pw}'})))).toEqual([
      'var.pw: the variable pw has no value: set TF_VAR_pw, or give --var pw=…, or write it into terraform.tfvars.json (shop.auto.tfvars.json for this stack alone)',
    ])
    const {spec} = declarationOf(read(two({'spec/password': '${var.pw}'}), {mode: 'validate'}), 'two')
    expect(spec.password).toEqual(new Deferred('${var.pw}', [], true))
  })
})

describe('what to do about problems of variables', () => {
  const failureOf = (variables: object, given: {vars?: readonly string[]} = {}): AppError => {
    const commandLine = (given.vars ?? []).map(text => ({type: 'var' as const, text}))
    try {
      read(withObjects({}, {variable: variables}), {variables: {commandLine}})
    } catch (error) {
      if (error instanceof AppError) return error
    }
    throw new Error('nothing was refused')
  }

  it('is to set all that have no value, which are said at once', () => {
    const {problems, suggestions} = failureOf({a: {type: 'string'}, b: {type: 'number'}})
    expect(problems?.map(it => it.address)).toEqual(['var.a', 'var.b'])
    expect(suggestions).toEqual(['Set them (TF_VAR_NAME, --var NAME=VALUE, --var-file FILE), then run the command again.'])
  })

  it('says nothing of the stack where --var names one that is not there, or has no such value', () => {
    expect(failureOf({}, {vars: ['foo=1']})).toMatchObject({
      message: 'the values of variables have one problem; nothing was sent',
      suggestions: ['Correct that --var, or leave it out.'],
    })
    expect(failureOf({n: {type: 'number'}}, {vars: ['n=x']}).suggestions).toEqual([
      'Correct the value where it is given (--var), then run the command again.',
    ])
  })
})

describe('several objects from one declaration', () => {
  it('for_each gives each an address by key, and each.key and each.value', () => {
    const stack = read(
      withObjects({
        db: [
          'cloud.database',
          {memoryLimitInGb: 1},
          {'spec/subscription': '${null_resource.orders.id}', 'spec/name': 'db-${each.key}', 'spec/port': '${each.value.port}'},
          {for_each: {a: {port: 7001}, 'b"c': {port: '7002'}}},
        ],
        rule: ['cloud.acl_rule', {name: 'r'}, {'spec/database': '${null_resource.db["a"].id}'}, {depends_on: ['null_resource.db']}],
      }),
    )
    expect(stack.declarations.map(it => it.address)).toEqual([
      'null_resource.orders',
      'null_resource.cache',
      'null_resource.db["a"]',
      'null_resource.db["b\\"c"]',
      'null_resource.rule',
    ])
    expect(declarationOf(stack, 'db["b\\"c"]').spec).toEqual({memoryLimitInGb: 1, name: 'db-b"c', port: 7002})
    expect(declarationOf(stack, 'rule')).toMatchObject({
      parent: {by: 'key', key: 'shop:null_resource.db["a"]'},
      dependsOn: [{key: 'shop:null_resource.db["b\\"c"]', reason: 'depends_on'}],
    })
  })

  it('count and sets do the same', () => {
    const stack = read({
      variable: {names: {type: 'set(string)', default: ['x']}},
      objects: {
        n: ['cluster.user', {}, {'spec/name': 'n${count.index}'}, {count: '${1}'}],
        s: ['cluster.user', {}, {'spec/name': '${each.value}'}, {for_each: '${toset(var.names)}'}],
      },
    })
    expect(stack.declarations.map(it => [it.address, it.spec.name])).toEqual([
      ['null_resource.n[0]', 'n0'],
      ['null_resource.s["x"]', 'x'],
    ])
  })

  it('an instance that is not there is named with those that are', () => {
    const text = withObjects({
      db: ['cloud.database', {memoryLimitInGb: 1, name: 'd', subscription: 'x'}, {}, {for_each: {a: 1}}],
      rule: ['cloud.acl_rule', {name: 'r'}, {'spec/database': '${null_resource.db.id}'}],
    })
    expect(messagesOf(() => read(text))[0]).toContain('null_resource.db has no instance "id"; it has "a"')
  })

  it('keys that are secret or known later are refused', () => {
    const user = (more: {for_each: string}) => ({u: ['cluster.user', {name: 'u'}, {}, more] as const})
    expect(
      messagesOf(() => read({variable: pw, objects: user({for_each: '${toset([var.pw])}'})}, {variables: {environment}}))[0],
    ).toContain('for_each is secret')
    expect(messagesOf(() => read(withObjects(user({for_each: '${toset([null_resource.orders.id])}'}))))[0]).toContain(
      'must be known when the plan is made',
    )
  })
})

describe('policy and lifecycle', () => {
  it('come from the trigger and from Terraform', () => {
    const text: StackText = {
      objects: {
        s: [
          'cloud.subscription',
          {name: 's'},
          {policy: '{"exclusive": ["databases"], "removal": "retain", "ignoreChanges": ["/paymentMethodId"]}'},
          {lifecycle: {prevent_destroy: true, create_before_destroy: true, ignore_changes: ['triggers["spec/name"]']}},
        ],
        t: ['cloud.subscription', {name: 't'}, {}, {lifecycle: [{ignore_changes: 'all'}]}],
      },
    }
    const stack = read(text)
    expect(declarationOf(stack, 's').policy).toEqual({
      exclusive: ['databases'],
      removal: 'retain',
      ignoreChanges: ['/paymentMethodId', '/name'],
      preventDestroy: true,
      createBeforeDestroy: true,
    })
    expect(declarationOf(stack, 't').policy.ignoreChanges).toEqual([''])
  })

  it.each([
    ['memoryLimit.x', '"memoryLimit.x" is no JSON pointer: write "/memoryLimit/x"'],
    ['/a'.repeat(1_001), `${JSON.stringify('/a'.repeat(50))} has more than 1000 segments`],
    ['/'.repeat(70_000), `${JSON.stringify('/'.repeat(100))} has more than 65536 characters`],
  ])('leave alone only what a plan can name: %#', (place, fault) => {
    const text: StackText = {objects: {s: ['cloud.subscription', {name: 's'}, {policy: JSON.stringify({ignoreChanges: [place]})}, {}]}}
    expect(messagesOf(() => read(text))).toEqual([`null_resource.s: policy.ignoreChanges: ${fault}`])
  })

  it('say by name what svcctl does not do, and the nearest word for what nobody does', () => {
    const text: StackText = {
      objects: {
        s: [
          'cloud.subscription',
          {name: 's'},
          {policy: '{"exclusive": ["database"], "removal": "keep", "ignorechanges": []}'},
          {lifecycle: {replace_triggered_by: ['x'], precondition: [{}], prevent_destory: true}, provisioner: {}},
        ],
      },
    }
    expect(messagesOf(() => read(text)).map(it => it.replace('null_resource.s: ', ''))).toEqual([
      'policy has no "ignorechanges": did you mean "ignoreChanges"?',
      'policy.removal must be "delete" or "retain", not "keep"',
      'policy.exclusive: a cloud.subscription has no collection "database": did you mean "databases"?',
      'svcctl runs no provisioner: take it away',
      'svcctl does not do replace_triggered_by yet: change an immutable field, or destroy the object and apply again',
      "svcctl does not evaluate a precondition yet: check it in the stack's own code",
      'lifecycle has no "prevent_destory": did you mean "prevent_destroy"?',
    ])
  })

  it('reads moved, removed and import blocks', () => {
    const stack = read({
      ...shop,
      moved: [{from: 'null_resource.old', to: 'null_resource.cache'}],
      removed: {from: 'null_resource.gone', lifecycle: {destroy: false}},
      import: [{to: 'null_resource.cache', id: 'cloud/subscriptions/12/databases/51'}],
    })
    expect(stack).toMatchObject({
      moved: [{from: 'null_resource.old', to: 'null_resource.cache'}],
      removed: [{from: 'null_resource.gone', destroy: false}],
    })
    expect(declarationOf(stack, 'cache').importId).toBe('cloud/subscriptions/12/databases/51')
  })

  it('refuses blocks that contradict the declarations', () => {
    const text = {
      ...shop,
      moved: [{from: 'null_resource.orders', to: 'null_resource.cache'}],
      removed: {from: 'null_resource.orders'},
      import: [
        {to: 'null_resource.cach', id: 'cloud/subscriptions/12/databases/51'},
        {to: 'null_resource.cache', id: 'cloud/subscriptions/12'},
      ],
    }
    expect(messagesOf(() => read(text))).toEqual([
      'import: import.to: null_resource.cach is not declared: did you mean "null_resource.cache"?',
      'import: import.id: "cloud/subscriptions/12" is no path of a cloud.database: write cloud/subscriptions/<id>/databases/<id>',
      'moved: moved.from: null_resource.orders is still declared: take that declaration away, or the moved block',
      'removed: removed.from: null_resource.orders is still declared: take that declaration away, or the removed block',
    ])
  })
})

describe('parents', () => {
  const parent = (subscription: string, triggers = {}) =>
    declarationOf(read({objects: {d: ['cloud.database', {name: 'd', memoryLimitInGb: 1, subscription}, triggers]}}), 'd').parent

  it.each([
    ['cloud/subscriptions/12', {by: 'remoteId', remoteId: 'cloud/subscriptions/12'}],
    ['12', {by: 'id', id: '12'}],
    ['orders', {by: 'name', name: 'orders'}],
    ['a/b', {by: 'name', name: 'a/b'}],
  ])('the text %s is %j', (text, ref) => {
    expect(parent(text)).toEqual(ref)
  })

  it('a name that is declared too means the declaration, so that work waits for it', () => {
    const text = withObjects({d: ['cloud.database', {name: 'd', memoryLimitInGb: 1, subscription: 'orders'}]})
    expect(declarationOf(read(text), 'd').parent).toEqual({by: 'key', key: 'shop:null_resource.orders'})
    const byName = withObjects({
      d: ['cloud.database', {name: 'd', memoryLimitInGb: 1}, {'spec/subscription': '${null_resource.orders.triggers["out/name"]}'}],
    })
    expect(declarationOf(read(byName), 'd')).toMatchObject({parent: {by: 'key', key: 'shop:null_resource.orders'}, dependsOn: []})
  })

  it('that are missing, undeclared, misspelled or of another kind are said together', () => {
    const text = withObjects({
      a: ['cloud.database', {name: 'a', memoryLimitInGb: 1}],
      b: ['cloud.database', {name: 'b', memoryLimitInGb: 1}, {'spec/subscription': '${null_resource.order.id}'}],
      c: ['cloud.acl_rule', {name: 'c'}, {'spec/database': '${null_resource.orders.id}'}],
      d: ['cloud.acl_rule', {name: 'd', database: 'cloud/subscriptions/12'}],
      e: ['cloud.database', {name: 'e', memoryLimitInGb: 1, subscripton: 'x'}],
      f: ['cloud.acl_rule', {name: 'f', databse: '1'}],
    })
    expect(messagesOf(() => read(text))).toEqual([
      'null_resource.a /subscription: "subscription" is missing: a cloud.database lives in a cloud.subscription; give a reference (${null_resource.<name>.id}), a numeric id or a name',
      'null_resource.b /subscription: "${null_resource.order.id}", character 16: null_resource.order is not declared in stack shop: did you mean "orders"?',
      'null_resource.e /subscripton: a cloud.database has no field "subscripton": did you mean "subscription"?',
      'null_resource.f /database: "database" is missing (is "databse" meant?): a cloud.acl_rule lives in a cloud.database; give a reference (${null_resource.<name>.id}), a numeric id or a name',
      'null_resource.c /database: "database" must refer to a cloud.database, and null_resource.orders is a cloud.subscription',
      'null_resource.d /database: "cloud/subscriptions/12" is the path of a cloud.subscription, and a cloud.acl_rule lives in a cloud.database: write cloud/subscriptions/<id>/databases/<id>',
    ])
  })
})

describe('all declarations together', () => {
  it('refuses one object declared twice', () => {
    const text = withObjects({
      again: ['cloud.database', {name: 'cache', memoryLimitInGb: 2}, {'spec/subscription': '${null_resource.orders.id}'}],
      elsewhere: ['cloud.database', {name: 'cache', memoryLimitInGb: 2, subscription: '12'}],
      p: ['cluster.policy', {}],
      q: ['cluster.policy', {}],
    })
    expect(messagesOf(() => read(text))).toEqual([
      'null_resource.again: null_resource.cache declares the database "cache" already: two declarations would change one object in turn',
      'null_resource.q: there is only one cluster policy, and null_resource.p declares it already',
    ])
  })

  it('takes two peerings for one only where all agrees that both say of the other network', () => {
    const network = {subscription: '1', provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'vpc-1', vpcCidrs: ['10.0.0.0/24']}
    const withOther = (other: object) => read({objects: {p: ['cloud.peering', network], q: ['cloud.peering', {...network, ...other}]}})
    for (const other of [{awsAccountId: '2'}, {vpcCidrs: ['10.1.0.0/24']}]) expect(withOther(other).declarations).toHaveLength(2)
    for (const same of [{provider: 'aws'}, {note: 'the same'}])
      expect(messagesOf(() => withOther(same))).toEqual([
        'null_resource.q: null_resource.p declares the peering "us-east-1 vpc-1" already: two declarations would change one object in turn',
      ])
  })

  it('takes no two peerings for one of which nobody knows yet what tells them apart', () => {
    const network = {subscription: '1', provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcCidr: '10.0.0.0/24'}
    const text: StackText = {
      variable: {a: {type: 'string'}, b: {type: 'string'}},
      objects: {p: ['cloud.peering', network, {'spec/vpcId': '${var.a}'}], q: ['cloud.peering', network, {'spec/vpcId': '${var.b}'}]},
    }
    expect(messagesOf(() => read(text, {mode: 'validate'}))).toEqual([])
    const given = (b: string) => () => read(text, {variables: {environment: {TF_VAR_a: 'vpc-1', TF_VAR_b: b}}})
    expect([messagesOf(given('vpc-2')), messagesOf(given('vpc-1')).length]).toEqual([[], 1])
  })

  it('refuses more peerings of one name than anybody tells apart', () => {
    const network = {subscription: '1', provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'}
    const peering = (i: number): [string, JsonObject] => ['cloud.peering', {...network, awsAccountId: String(i)}]
    const many = (count: number) => read({objects: Object.fromEntries(Array.from({length: count}, (_, i) => [`p${i}`, peering(i)]))})
    expect(many(MOST_NAMESAKES).declarations).toHaveLength(MOST_NAMESAKES)
    const said = 'more than 100 declarations are of a peering "us-east-1 vpc-1 10.0.0.0/24": nobody can tell them apart'
    expect(messagesOf(() => many(MOST_NAMESAKES + 2))).toEqual([`null_resource.p100: ${said}`, `null_resource.p101: ${said}`])
  })

  it('finds objects that wait for each other, across stacks too', () => {
    const text = withObjects({
      a: ['cluster.user', {name: 'a'}, {}, {depends_on: ['null_resource.b']}],
      b: ['cluster.user', {name: 'b'}, {'spec/email': '${null_resource.a.id}'}],
    })
    expect(messagesOf(() => read(text))).toEqual([
      'null_resource.a: dependency cycle, the objects wait for each other: null_resource.a → null_resource.b → null_resource.a; take one of these references away',
    ])
  })

  it('finds a value that depends on itself', () => {
    const text: StackText = {
      locals: {x: '${local.y}', y: '${local.x}'},
      objects: {
        a: ['cluster.user', {}, {'spec/name': '${null_resource.b.triggers["out/name"]}'}],
        b: ['cluster.user', {}, {'spec/name': '${null_resource.a.triggers["out/name"]}'}],
        c: ['cluster.user', {}, {'spec/name': '${local.x}'}],
      },
    }
    const messages = messagesOf(() => read(text)).join('\n')
    expect(messages).toContain(
      'dependency cycle, the value depends on itself: null_resource.a spec/name → null_resource.b spec/name → null_resource.a spec/name',
    )
    expect(messages).toContain(
      'dependency cycle, the value depends on itself: local.x of stack shop → local.y of stack shop → local.x of stack shop',
    )
  })

  it('refuses what nobody would make', () => {
    const text = {
      resource: {null_resource: {mine: {triggers: {kid: 'cloud.database'}}}, aws_vpc: {v: {}}},
      module: {m: {source: 'x'}},
      data: {external: {guard: {}}},
    }
    expect(messagesOf(() => read(text))).toEqual([
      'aws_vpc.v: svcctl makes no aws_vpc: keep it in a stack that Terraform applies, and pass what is needed of it in through a variable',
      'module.m: svcctl reads no modules: declare the objects in the stack itself, with constructs',
      'null_resource.mine: it has no trigger "kind", so svcctl cannot tell what it is: did you mean "kid"?: write "kind": "cloud.database" beside "spec", or keep it in a stack that Terraform applies',
    ])
  })
})

describe('several stacks', () => {
  const remote = (file: string) => ({data: {terraform_remote_state: {net: {backend: 'local', config: {path: `../../${file}`}}}}})
  const stacks = {
    network: {
      variable: {...pw, size: {type: 'number'}},
      output: {
        sub: {value: '${null_resource.orders.id}', sensitive: true},
        'cross-stack-output-name': {value: '${null_resource.orders.triggers["out/name"]}', sensitive: true},
        token: {value: '${var.pw}'},
        size: {value: '${var.size}'},
      },
      objects: {orders: ['cloud.subscription', {name: 'orders'}]},
    },
    shop: {
      ...remote('terraform.network.tfstate'),
      objects: {
        cache: [
          'cloud.database',
          {memoryLimitInGb: 1},
          {
            'spec/subscription': '${data.terraform_remote_state.net.outputs.sub}',
            'spec/name': '${data.terraform_remote_state.net.outputs.cross-stack-output-name}',
          },
        ],
        u: ['cluster.user', {name: 'u'}, {'spec/password': 'x${data.terraform_remote_state.net.outputs.token}'}],
      },
    },
  } as const satisfies Record<string, StackText>
  const values = {environment: {...environment, TF_VAR_size: '3'}}

  it('refer to each other by the place of the ledger, and secret is what is made of secrets', () => {
    const [network, shopStack] = readAll(stacks, {variables: values}).stacks
    if (!network || !shopStack) throw new Error('two stacks')
    expect(declarationOf(shopStack, 'cache')).toMatchObject({
      parent: {by: 'key', key: 'network:null_resource.orders'},
      spec: {name: 'orders'},
      dependsOn: [],
    })
    expect(declarationOf(shopStack, 'u').spec.password).toEqual(new Secret('xcorrect horse', 'x${stack["network"].var.pw}'))
    expect(network.outputs.map(({name, sensitive}) => [name, sensitive])).toEqual([
      ['sub', true],
      ['cross-stack-output-name', false],
      ['token', true],
      ['size', false],
    ])
  })

  it('that were not asked for may lack variables until somebody needs them', () => {
    expect(problemsOf(() => readAll(stacks, {selected: ['shop'], variables: {environment}}))).toEqual([])
    const needy = {
      ...stacks.shop,
      objects: {u: ['cluster.user', {name: 'u'}, {'spec/email': '${data.terraform_remote_state.net.outputs.size}'}]},
    } as StackText
    expect(messagesOf(() => readAll({...stacks, shop: needy}, {selected: ['shop'], variables: {environment}}))).toEqual([
      'null_resource.u: it reads the variable size of stack network, which has no value: set TF_VAR_size',
    ])
  })

  it('that are not of this app are named', () => {
    expect(messagesOf(() => readAll({shop: {...stacks.shop, ...remote('other.tfstate')}}))[0]).toContain(
      'data.terraform_remote_state.net is the state of no stack of this app (file other.tfstate)',
    )
  })
})

describe('reading many objects', () => {
  it('follows a chain of 5 000 references', () => {
    const many = (count: number): StackText => ({
      objects: Object.fromEntries(
        Array.from({length: count}, (_, i) => [
          `u${i}`,
          ['cluster.user', {name: `u${i}`}, i === 0 ? {} : {'spec/email': `\${null_resource.u${i - 1}.id}`}],
        ]),
      ),
    })
    const stack = read(many(5000))
    expect(stack.declarations).toHaveLength(5000)
    expect(declarationOf(stack, 'u4999').dependsOn).toEqual([{key: 'shop:null_resource.u4998', reason: 'reference'}])
  })
})
