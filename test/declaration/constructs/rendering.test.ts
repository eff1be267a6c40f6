import {Aspects, Fn, Lazy, TerraformStack, TerraformVariable, Token} from 'cdktf'
import {describe, expect, it} from 'vitest'
import {AclUser, CloudTarget, Database, Subscription, secret} from '../../../src/index.ts'
import {synthesized, synthesizedApp, triggersOf} from './synthesized.ts'

/** Objects that have everything but options which only cdktf can render. */
function shop(stack: TerraformStack): void {
  new CloudTarget(stack, 'cloud')
  const size = new TerraformVariable(stack, 'size', {type: 'number', default: 2})
  const subscription = new Subscription(stack, 'subscription', {name: 'shop', removalPolicy: 'retain'})
  const first = new Database(stack, 'first', {
    subscription,
    name: `cart-\${not} %{one} ${size.stringValue}`,
    memoryLimitInGb: size.numberValue,
    modules: [{name: 'json'}],
    ignoreChanges: ['/memoryLimitInGb'],
  })
  const second = new Database(stack, 'second', {
    subscription,
    name: Lazy.stringValue({produce: () => 'late'}),
    memoryLimitInGb: 1,
    alerts: Token.asList(Fn.concat([[{name: 'a', value: 1}]])) as never,
    dependsOn: [first, subscription],
  })
  new AclUser(stack, 'user', {
    database: second,
    name: first.output('publicEndpoint'),
    role: 'r',
    password: secret(stack, 'word', {version: '1'}),
    dependsOn: [],
  } as never)
}

describe('an object as it is written', () => {
  it('is what cdktf would write of it', () => {
    const plain = synthesized(shop)
    // With an override of the stack all are rendered by cdktf.
    const elaborate = synthesized(stack => {
      shop(stack)
      stack.addOverride('terraform.required_version', '>= 1.5')
    })
    expect(Object.keys(plain.resource?.null_resource ?? {})).toEqual(['first', 'second', 'subscription', 'user'])
    expect(plain.resource).toEqual(elaborate.resource)
  })

  it('can be looked into before, as any resource of cdktf', () => {
    synthesized(stack => {
      const rendered = new Subscription(stack, 's', {name: 's'}).toTerraform() as {resource: {null_resource: Record<string, object>}}
      expect(Object.keys(rendered.resource.null_resource.s ?? {})).toEqual(['triggers', '//'])
    })
  })

  it('has what an Aspect made of it after references were looked for', () => {
    const file = synthesized(stack => {
      new Subscription(stack, 's', {name: 'before', removalPolicy: 'retain'})
      Aspects.of(stack).add({
        visit: node => {
          if (!(node instanceof Subscription)) return
          node.spec = {...node.spec, name: 'after'}
          node.removalPolicy = 'delete'
        },
      })
    })
    expect(triggersOf(file).s).toEqual({kind: 'cloud.subscription', spec: '{"name":"after"}'})
  })

  it('has what an Aspect overrides in it', () => {
    const file = synthesized(stack => {
      new Subscription(stack, 's', {name: 's'})
      Aspects.of(stack).add({
        visit: node => {
          if (node instanceof Subscription) node.addOverride('lifecycle', {prevent_destroy: true})
        },
      })
    })
    expect(file.resource?.null_resource?.s?.lifecycle).toEqual({prevent_destroy: true})
  })

  it('has what a class of the program adds to its attributes', () => {
    class Named extends Subscription {
      protected override synthesizeAttributes(): {[name: string]: unknown} {
        return {...super.synthesizeAttributes(), note: 'mine'}
      }
    }
    const file = synthesized(stack => void new Named(stack, 's', {name: 's'}))
    expect(file.resource?.null_resource?.s).toMatchObject({triggers: {kind: 'cloud.subscription', spec: '{"name":"s"}'}, note: 'mine'})
  })
})

describe('a reference to another stack', () => {
  it.each<[string, (stack: TerraformStack, other: Subscription) => void]>([
    ['in a field', (stack, other) => new Database(stack, 'd', {subscription: other, name: 'd', memoryLimitInGb: 1})],
    ['in the middle of a text', (stack, other) => new Subscription(stack, 'd', {name: `of ${other.output('name')}`})],
    [
      'in a list that is an expression',
      (stack, other) =>
        new Database(stack, 'd', {subscription: 's', name: 'd', memoryLimitInGb: 1, modules: Fn.concat([[other.output('name')]]) as never}),
    ],
  ])('%s is found before anything is written', (_, build) => {
    const {front, shop: there} = synthesizedApp(app => {
      const from = new TerraformStack(app, 'shop')
      const to = new TerraformStack(app, 'front')
      build(to, new Subscription(from, 's', {name: 's'}))
    })
    expect(Object.keys((there?.output ?? {}) as object)).toHaveLength(1)
    expect(JSON.stringify(front?.resource)).toContain('data.terraform_remote_state')
  })
})
