import {tmpdir} from 'node:os'
import {NullProvider} from '@cdktf/provider-null/lib/provider/index.js'
import {Resource} from '@cdktf/provider-null/lib/resource/index.js'
import {type App, Fn, HttpBackend, LocalBackend, TerraformOutput, TerraformStack, TerraformVariable} from 'cdktf'
import {App as OtherApp, TerraformStack as OtherStack} from 'cdktn'
import {Construct} from 'constructs'
import {describe, expect, it} from 'vitest'
import {CloudTarget, ClusterDatabase, ClusterTarget, ClusterUser, Database, Subscription, secret, unlisted} from '../../../src/index.ts'
import {synthesized, synthesizedApp, triggersOf} from './synthesized.ts'

describe('a stack with our constructs', () => {
  it('names the profiles of its targets and the versions of its secrets where svcctl looks for them', () => {
    const file = synthesized(stack => {
      new CloudTarget(stack, 'cloud', {profile: 'prod', account: '1001'})
      new ClusterTarget(stack, 'cluster', {profile: 'berlin'})
      new ClusterUser(stack, 'a', {name: 'a', password: secret(stack, 'plain')})
      new ClusterUser(stack, 'b', {name: 'b', password: secret(stack, 'versioned', {version: 2, description: 'For b.'})})
    })
    expect(file['//'].svcctl).toEqual({
      cloud: {account: '1001', profile: 'prod'},
      cluster: {profile: 'berlin'},
      secrets: {versioned: {version: '2'}},
    })
    expect(file.variable.plain).toEqual({sensitive: true, type: 'string'})
    expect(file.variable.versioned).toEqual({sensitive: true, type: 'string', description: 'For b.'})
  })

  it('gets cdktf’s null provider once, and stops plain Terraform with a variable nobody can satisfy', () => {
    const file = synthesized(stack => {
      new Subscription(stack, 'a', {name: 'a'})
      new Subscription(stack, 'b', {name: 'b'})
    })
    expect(file.terraform).toEqual({
      backend: {local: {path: 'terraform.shop.tfstate'}},
      required_providers: {null: {source: 'null', version: '3.2.4'}},
    })
    expect(file.provider).toEqual({null: [{}]})
    expect(file.variable).toEqual({
      svcctl_only: {
        type: 'string',
        default: 'never set this',
        description: 'Stops plain Terraform, which cannot reach these objects; svcctl passes it over.',
        validation: [
          {
            condition: '${var.svcctl_only != var.svcctl_only}',
            error_message: 'Stop: this stack is applied with svcctl. Run "svcctl plan" instead.',
          },
        ],
      },
    })
  })

  it('needs no provider when it only has a target', () => {
    const file = synthesized(stack => new CloudTarget(stack, 'cloud'))
    expect(file.terraform).toEqual({backend: {local: {path: 'terraform.shop.tfstate'}}})
    expect(file.provider).toBeUndefined()
  })

  const object = (stack: TerraformStack) => new Subscription(stack, 'a', {name: 'a'})
  const ofProgram = (stack: TerraformStack) => new NullProvider(stack, 'null')

  it.each([
    ['before', [ofProgram, object]],
    ['after', [object, ofProgram]],
  ])('leaves the null provider to a program that makes it %s its objects, as cdktf documents it', (_, build) => {
    const file = synthesized(stack => {
      for (const make of build) make(stack)
    })
    expect([file.provider, file.terraform]).toMatchObject([{null: [{}]}, {required_providers: {null: {source: 'null', version: '3.2.4'}}}])
  })

  it('still gets one beside a provider that only has an alias', () => {
    const file = synthesized(stack => {
      object(stack)
      new NullProvider(stack, 'other', {alias: 'other'})
    })
    expect(file.provider).toEqual({null: expect.toSatisfy((all: object[]) => all.length === 2 && all.some(it => !('alias' in it)))})
  })

  it('gets one each, when an app has several', () => {
    const files = synthesizedApp(app => {
      const [one, two] = [new TerraformStack(app, 'one'), new TerraformStack(app, 'two')]
      object(one)
      object(two)
      ofProgram(two)
    })
    expect([files.one?.provider, files.two?.provider]).toEqual([{null: [{}]}, {null: [{}]}])
  })

  it.each([
    [
      'an http backend',
      (stack: TerraformStack) => new HttpBackend(stack, {address: 'https://state.example.com/shop'}),
      {http: {address: 'https://state.example.com/shop'}},
    ],
    [
      'a local backend',
      (stack: TerraformStack) => new LocalBackend(stack, {path: 'state/shop.tfstate'}),
      {local: {path: 'state/shop.tfstate'}},
    ],
  ])('keeps %s of its own, even one that is added last', (_, backend, expected) => {
    const file = synthesized(stack => {
      new Subscription(stack, 'a', {name: 'a'})
      backend(stack)
    })
    expect(file.terraform).toMatchObject({backend: expected})
  })

  it('holds no path of the machine it was synthesized on', () => {
    expect(JSON.stringify(synthesized(stack => new Subscription(stack, 'a', {name: 'a'})))).not.toContain(process.cwd())
  })
})

describe('a reference to another stack', () => {
  const app = (app: App) => {
    const network = new TerraformStack(app, 'network')
    const subscription = new Subscription(network, 'shared', {name: 'shared'})
    const database = new Database(network, 'cache', {subscription, name: 'cache', memoryLimitInGb: 1})
    const shop = new TerraformStack(app, 'shop')
    new Database(shop, 'own', {subscription, name: 'own', memoryLimitInGb: 1})
    new ClusterDatabase(shop, 'replica', {
      name: 'replica',
      ...unlisted({sources: [{uri: `redis://${database.publicEndpoint}`, port: database.output('endpoint/port')}]}),
    })
  }

  it('goes through an output there and a remote state here', () => {
    const {network, shop} = synthesizedApp(app)
    const outputs = (name: string) => `data.terraform_remote_state.cross-stack-reference-input-network.outputs.cross-stack-output-${name}`
    expect(network?.output).toEqual({
      'cross-stack-output-null_resourcesharedid': {sensitive: true, value: '${null_resource.shared.id}'},
      'cross-stack-output-null_resourcecachetriggersout--publicEndpoint': {
        sensitive: true,
        value: '${null_resource.cache.triggers["out/publicEndpoint"]}',
      },
      'cross-stack-output-null_resourcecachetriggersout--endpoint--port': {
        sensitive: true,
        value: '${null_resource.cache.triggers["out/endpoint/port"]}',
      },
    })
    expect(triggersOf(network).cache).toMatchObject({'out/publicEndpoint': '', 'out/endpoint/port': ''})
    expect(triggersOf(shop)).toEqual({
      own: {
        kind: 'cloud.database',
        spec: '{"memoryLimitInGb":1,"name":"own"}',
        'spec/subscription': `\${${outputs('null_resourcesharedid')}}`,
      },
      replica: {
        kind: 'cluster.database',
        spec: '{"name":"replica","sources":[{}]}',
        'spec/sources/0/uri': `redis://\${${outputs('null_resourcecachetriggersout--publicEndpoint')}}`,
        'spec/sources/0/port': `\${${outputs('null_resourcecachetriggersout--endpoint--port')}}`,
      },
    })
  })

  it('finds the other ledger by a relative path', () => {
    expect(synthesizedApp(app).shop?.data).toEqual({
      terraform_remote_state: {
        'cross-stack-reference-input-network': {
          backend: 'local',
          config: {path: 'terraform.network.tfstate'},
          workspace: '${terraform.workspace}',
        },
      },
    })
  })
})

describe('what Terraform would merge or refuse', () => {
  const problem = (build: (stack: TerraformStack) => void): {code?: string; message?: string} => {
    try {
      synthesized(build)
    } catch (error) {
      return error as {code: string; message: string}
    }
    return {}
  }
  const user = (scope: Construct, id: string) => new ClusterUser(scope, id, {name: id})

  it('two ids that differ in a dot only are refused where the second is made', () => {
    const {code, message} = problem(stack => {
      user(stack, 'ab')
      user(stack, 'a.b')
    })
    expect(code).toBe('E_CONSTRUCT_ID')
    expect(message).toBe('shop/a.b: it has the address null_resource.ab, which shop/ab has too: Terraform would merge the two into one')
  })

  it.each(['1st', '-a', 'ü', '漢字'])('the id %j is refused', id => {
    expect(problem(stack => user(stack, id))).toMatchObject({code: 'E_CONSTRUCT_ID'})
  })

  it('an overridden logical id is held to the same', () => {
    expect(
      problem(stack => {
        user(stack, 'a')
        user(stack, 'b').overrideLogicalId('a')
      }),
    ).toMatchObject({code: 'E_CONSTRUCT_ID'})
    expect(problem(stack => user(stack, 'b').overrideLogicalId('no.dots'))).toMatchObject({code: 'E_CONSTRUCT_ID'})
  })

  it('an overridden logical id frees the one before', () => {
    const file = synthesized(stack => {
      user(stack, 'a.b').overrideLogicalId('other')
      user(stack, 'ab')
    })
    expect(Object.keys(triggersOf(file)).sort()).toEqual(['ab', 'other'])
  })

  it('a logical id overridden after something refers to it is refused, because cdktf would keep the first', () => {
    expect(
      problem(stack => {
        const a = user(stack, 'a')
        new TerraformOutput(stack, 'o', {value: a.id})
        a.overrideLogicalId('b')
      }),
    ).toMatchObject({code: 'E_CONSTRUCT_REFERENCE'})
  })

  it('the same id in different constructs is two objects', () => {
    const file = synthesized(stack => {
      user(new Construct(stack, 'x'), 'a')
      user(new Construct(stack, 'y'), 'a')
    })
    expect(Object.keys(triggersOf(file))).toHaveLength(2)
  })

  it('a variable beside a secret of the same name is refused', () => {
    expect(
      problem(stack => {
        new TerraformVariable(stack, 'pw', {})
        user(stack, 'a').spec.password = secret(stack, 'pw')
      }).message,
    ).toContain('it has the address var.pw, which')
  })
})

describe('what may be said once in a stack', () => {
  it('is one target for each API', () => {
    expect(() =>
      synthesized(stack => {
        new CloudTarget(stack, 'a', {profile: 'a'})
        new CloudTarget(stack, 'b', {profile: 'b'})
      }),
    ).toThrow('stack shop already has a target for the cloud API')
  })

  it('is a secret: the same name is the same variable, with other options it is refused', () => {
    const file = synthesized(stack => {
      const inner = new Construct(stack, 'inner')
      new ClusterUser(stack, 'a', {name: 'a', password: secret(stack, 'pw', {version: 1})})
      new ClusterUser(inner, 'b', {name: 'b', password: secret(inner, 'pw', {version: '1'})})
    })
    expect(Object.keys(file.variable)).toEqual(['pw', 'svcctl_only'])
    expect(() => synthesized(stack => void [secret(stack, 'pw'), secret(stack, 'pw', {version: 2})])).toThrow('is declared twice')
  })

  it.each(['count', 'a b', '1', 'svcctl_only', ''])('is no secret called %j', name => {
    expect(() => synthesized(stack => void secret(stack, name))).toThrow('cannot be the name of a secret')
  })
})

describe('HCL output', () => {
  it('is refused, because svcctl reads JSON', () => {
    expect(() =>
      synthesized(stack => {
        new CloudTarget(stack, 'cloud')
        stack.toHclTerraform()
      }),
    ).toThrow('svcctl reads stacks as JSON')
  })
})

describe('an object', () => {
  it('is a null_resource of cdktf’s own provider, for programs that look for those', () => {
    const file = synthesized(stack => {
      const main = new Subscription(stack, 'main', {name: 'main'})
      expect(main).toBeInstanceOf(Resource)
      new TerraformOutput(stack, 'kind', {value: Fn.lookup(main.triggers, 'kind')})
    })
    expect(file.output).toMatchObject({kind: {value: '${null_resource.main.triggers.kind}'}})
  })

  it('takes no other triggers than its fields', () => {
    synthesized(stack => {
      const main = new Subscription(stack, 'main', {name: 'main'})
      expect(() => {
        main.triggers = {restart: 'now'}
      }).toThrow('shop/main: its triggers are its declaration, and are written from its fields')
    })
  })
})

describe('a stack made by cdktn while svcctl is installed with cdktf', () => {
  it('is refused with the way to install one for both', () => {
    expect(() => new CloudTarget(new OtherStack(new OtherApp({outdir: tmpdir()}), 'shop') as never, 'cloud')).toThrow(
      'the stack is made by another copy of cdktf, or by cdktn',
    )
  })
})
