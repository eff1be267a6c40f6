import {App, Aspects, Fn, TerraformCount, TerraformIterator, TerraformOutput, TerraformStack, TerraformVariable, Token} from 'cdktf'
import {describe, expect, it} from 'vitest'
import {AclRule, AclUser, ClusterDatabase, ClusterUser, Database, Subscription, unlisted} from '../../../src/index.ts'
import {type Resource, synthesized, triggers, triggersOf} from './synthesized.ts'

const objects = (build: (stack: TerraformStack) => void): Readonly<Record<string, Resource>> =>
  synthesized(build).resource?.null_resource ?? {}
const database = (stack: TerraformStack, id: string, more = {}) =>
  new Database(stack, id, {subscription: 's', name: id, memoryLimitInGb: 1, ...more})

describe("cdktf's own options", () => {
  it('dependsOn and lifecycle stand where Terraform has them, and not in the spec', () => {
    const {b} = objects(stack => {
      const a = database(stack, 'a')
      database(stack, 'b', {
        dependsOn: [a],
        lifecycle: {
          preventDestroy: true,
          createBeforeDestroy: true,
          ignoreChanges: 'all',
          replaceTriggeredBy: [a],
          precondition: [{condition: Token.asString(Fn.conditional(true, true, false)), errorMessage: 'no'}],
        },
      })
    })
    expect(b?.triggers).toEqual({kind: 'cloud.database', spec: '{"memoryLimitInGb":1,"name":"b","subscription":"s"}'})
    expect(b?.depends_on).toEqual(['null_resource.a'])
    expect(b?.lifecycle).toEqual({
      prevent_destroy: true,
      create_before_destroy: true,
      ignore_changes: 'all',
      replace_triggered_by: ['${null_resource.a}'],
      precondition: [{condition: '${true ? true : false}', error_message: 'no'}],
    })
  })

  it('forEach over a literal map, its values in fields, and an instance as a parent', () => {
    const {cache, rule, one} = objects(stack => {
      const each = TerraformIterator.fromMap({a: {size: 1}, b: {size: 2}})
      const cache = new Database(stack, 'cache', {
        forEach: each,
        subscription: 's',
        name: `cache-${each.key}`,
        memoryLimitInGb: each.getNumber('size'),
      })
      new AclRule(stack, 'rule', {forEach: each, database: cache.instance(each.key), name: 'r'})
      new AclUser(stack, 'one', {database: cache.instance('a'), name: 'u', role: cache.instance('b').output('name')})
    })
    expect(cache?.for_each).toEqual({a: {size: 1}, b: {size: 2}})
    expect(cache?.triggers).toEqual({
      kind: 'cloud.database',
      spec: '{"subscription":"s"}',
      'spec/name': 'cache-${each.key}',
      'spec/memoryLimitInGb': '${each.value.size}',
      'out/name': '',
    })
    expect(rule?.triggers['spec/database']).toBe('${null_resource.cache[each.key].id}')
    expect(one?.triggers['spec/database']).toBe('${null_resource.cache["a"].id}')
    expect(one?.triggers['spec/role']).toBe('${null_resource.cache["b"].triggers["out/name"]}')
  })

  it('forEach over a list, and chained from another object', () => {
    const {names, chained} = objects(stack => {
      const list = TerraformIterator.fromList(['x', 'y'])
      const names = new ClusterUser(stack, 'names', {forEach: list, name: list.value})
      const each = TerraformIterator.fromResources(names)
      new ClusterDatabase(stack, 'chained', {forEach: each, name: each.key})
    })
    expect(names?.for_each).toBe('${toset(["x", "y"])}')
    expect(names?.triggers['json/name']).toBe('${jsonencode(each.value)}')
    expect(chained?.for_each).toBe('${null_resource.names}')
  })

  it('count by number and by variable', () => {
    const {three, some, first} = objects(stack => {
      const count = TerraformCount.of(new TerraformVariable(stack, 'n', {type: 'number'}).numberValue)
      const three = new ClusterUser(stack, 'three', {name: 'u', count: 3})
      new ClusterUser(stack, 'some', {name: `u-${count.index}`, count})
      new AclUser(stack, 'first', {database: 'd', name: 'first', role: three.instance(0).output('name')})
    })
    expect(three?.count).toBe(3)
    expect(some?.count).toBe('${var.n}')
    expect(some?.triggers['spec/name']).toBe('u-${count.index}')
    expect(first?.triggers['spec/role']).toBe('${null_resource.three[0].triggers["out/name"]}')
  })

  it.each([
    ['forEach', {forEach: TerraformIterator.fromList(['a'])}, "Say which one: .instance('key').id"],
    ['count', {count: 2}, 'Say which one: .instance(0).id'],
  ])('a reference to all objects of a %s at once is refused with the way out', (word, option, suggestion) => {
    let error: {message?: string; suggestions?: string[]} = {}
    try {
      synthesized(stack => new TerraformOutput(stack, 'o', {value: database(stack, 'many', option).id}))
    } catch (thrown) {
      error = thrown as {message: string; suggestions: string[]}
    }
    expect(error.message).toBe(`shop/many: it is declared with ${word}, so .id would mean many objects`)
    expect(error.suggestions).toEqual([suggestion])
  })

  it('an import is a block of its own', () => {
    const file = synthesized(stack => database(stack, 'a').importFrom('cloud/subscriptions/12/databases/51'))
    expect(file.import).toEqual([{id: 'cloud/subscriptions/12/databases/51', to: 'null_resource.a'}])
  })

  it('an import asks for no Terraform, and takes what else is checked along', () => {
    const {PATH} = process.env
    process.env.PATH = '/nowhere'
    try {
      const stack = new TerraformStack(new App(), 'shop')
      const a = database(stack, 'a')
      a.importFrom('cloud/subscriptions/12/databases/51')
      expect(a.node.validate()).toEqual([])
      a.node.addValidation({validate: () => ['no']})
      expect(a.node.validate()).toEqual(['no'])
    } finally {
      process.env.PATH = PATH
    }
  })

  it('a moved address is a block of its own, by id and by target', () => {
    expect(synthesized(stack => database(stack, 'new').moveFromId('null_resource.old')).moved).toEqual([
      {from: 'null_resource.old', to: 'null_resource.new'},
    ])
    const file = synthesized(stack => {
      database(stack, 'to').addMoveTarget('here')
      database(stack, 'from').moveTo('here')
    })
    expect(file.moved).toEqual([{from: 'null_resource.from', to: 'null_resource.to'}])
    expect(Object.keys(triggersOf(file))).toEqual(['to'])
  })

  it('an override of a trigger, of the object and of the stack is laid over what is rendered', () => {
    const {a} = objects(stack => {
      const a = database(stack, 'a')
      a.addOverride('triggers.policy', '{"removal":"retain"}')
      a.addOverride('triggers.spec/port', '${var.port}')
      a.addOverride('lifecycle.prevent_destroy', true)
      stack.addOverride('resource.null_resource.a.triggers.out/status', '')
    })
    expect(a?.triggers).toEqual({
      kind: 'cloud.database',
      spec: '{"memoryLimitInGb":1,"name":"a","subscription":"s"}',
      policy: '{"removal":"retain"}',
      'spec/port': '${var.port}',
      'out/status': '',
    })
    expect(a?.lifecycle).toEqual({prevent_destroy: true})
  })
})

describe('an Aspect', () => {
  it('changes fields, parents, references and policies before they are rendered', () => {
    expect(
      triggers(stack => {
        const other = new Subscription(stack, 'other', {name: 'other'})
        database(stack, 'a')
        Aspects.of(stack).add({
          visit(node) {
            if (!(node instanceof Database)) return
            node.spec.replication = true
            node.spec.subscription = other
            node.spec.name = `prod-${other.output('subscriptionId')}`
            node.removalPolicy = 'retain'
            node.ignoreChanges = ['/alerts']
          },
        })
      }),
    ).toEqual({
      other: {kind: 'cloud.subscription', spec: '{"name":"other"}', 'out/subscriptionId': ''},
      a: {
        kind: 'cloud.database',
        spec: '{"memoryLimitInGb":1,"replication":true}',
        'spec/name': 'prod-${null_resource.other.triggers["out/subscriptionId"]}',
        'spec/subscription': '${null_resource.other.id}',
        policy: '{"ignoreChanges":["/alerts"],"removal":"retain"}',
      },
    })
  })

  it('may give a size with its unit', () => {
    const {a} = triggers(stack => {
      new ClusterDatabase(stack, 'a', {name: 'a', memory_size: '1GiB'})
      Aspects.of(stack).add({
        visit(node) {
          if (node instanceof ClusterDatabase) node.spec.memory_size = '2GiB'
        },
      })
    })
    expect(a?.spec).toBe('{"memory_size":2147483648,"name":"a"}')
  })
})

describe('a reference', () => {
  it('declares the output it reads, once, with and without a leading slash', () => {
    expect(
      triggers(stack => {
        const a = database(stack, 'a')
        new ClusterUser(stack, 'b', {
          name: a.name,
          ...unlisted({x: a.output('/endpoint/port'), y: a.output('endpoint/port'), z: a.privateEndpoint}),
        })
      }),
    ).toEqual({
      a: {
        kind: 'cloud.database',
        spec: '{"memoryLimitInGb":1,"name":"a","subscription":"s"}',
        'out/endpoint/port': '',
        'out/name': '',
        'out/privateEndpoint': '',
      },
      b: {
        kind: 'cluster.user',
        spec: '{}',
        'spec/name': '${null_resource.a.triggers["out/name"]}',
        'spec/x': '${null_resource.a.triggers["out/endpoint/port"]}',
        'spec/y': '${null_resource.a.triggers["out/endpoint/port"]}',
        'spec/z': '${null_resource.a.triggers["out/privateEndpoint"]}',
      },
    })
  })

  it.each(['', '/', 'a"b', '${x}', 'a\nb'])('to the field %j is refused', field => {
    expect(() => synthesized(stack => void database(stack, 'a').output(field))).toThrow('names no field of an object')
  })

  it('to a parent of another kind is refused in a program without types too', () => {
    expect(() =>
      synthesized(stack => {
        const rule = new AclRule(stack, 'rule', {database: 'd', name: 'r'})
        const untyped: Record<string, unknown> = {subscription: rule}
        database(stack, 'a', untyped)
      }),
    ).toThrow('shop/a: subscription must be a cloud.subscription, and it is a cloud.acl_rule')
  })
})
