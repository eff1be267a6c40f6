/** What people read of objects: the names they gave them before the addresses cdktf made. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'

const secrets = {env: {TF_VAR_pw: 'geheim-12345'}}
const ADDRESS = 'null_resource.cart_db-1_57A708BB'

let at: Site
let stack: readonly string[]
beforeAll(async () => {
  at = await site()
  const folder = join(at.folder, 'shop')
  mkdirSync(folder)
  const object = (path: string, kind: string, spec: object, more: object = {}) => ({
    '//': {metadata: {path, uniqueId: path}},
    triggers: {kind, spec: JSON.stringify(spec), ...more},
  })
  const document = {
    variable: {pw: {type: 'string', sensitive: true}},
    resource: {
      null_resource: {
        main: object('shop/main', 'cloud.subscription', {name: 'main'}),
        'cart_db-1_57A708BB': object(
          'shop/cart/db-1',
          'cloud.database',
          {name: 'orders', memoryLimitInGb: 1},
          {
            'spec/subscription': '${null_resource.main.id}',
          },
        ),
        user: object('shop/user', 'cloud.acl_user', {name: 'app'}, {'spec/database': `\${${ADDRESS}.id}`, 'spec/password': '${var.pw}'}),
      },
    },
  }
  writeFileSync(join(folder, 'cdk.tf.json'), JSON.stringify(document))
  stack = ['--synth-dir', folder]
})
afterAll(() => at.close())

describe('an object that cdktf named', () => {
  it('goes by its construct path first, in plan, apply and drift, and drift asks for no secret', async () => {
    const plan = await at.fast(['plan', ...stack], secrets)
    expect(plan.stdout).toContain(`+ create shop/cart/db-1 (${ADDRESS}) cloud.database "orders"\n`)
    const apply = await at.fast(['apply', ...stack, '--auto-approve'], secrets)
    expect(apply.code).toBe(0)
    expect(apply.stderr).toContain(`shop/cart/db-1 (${ADDRESS}): create ...`)
    const same = await at.fast(['drift', ...stack])
    expect([same.code, same.stderr]).toEqual([0, ''])
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 5}})
    const drift = await at.fast(['drift', ...stack])
    expect(drift.code).toBe(2)
    expect(drift.stdout).toContain(`drifted shop/cart/db-1 (${ADDRESS}) cloud.database "orders"\n`)
    const document = documentOf(await at.fast(['drift', ...stack, '-o', 'json']))
    expect(document.drifted).toMatchObject([
      {stack: 'shop', address: ADDRESS, kind: 'cloud.database', name: 'orders', construct: 'shop/cart/db-1'},
    ])
  })

  it('goes by it in a destroy too, which that path allows: at once, saved, and when the saved plan is applied', async () => {
    const allowed = ['--allow-destroy', 'shop/cart/*', '--allow-destroy', 'shop/main']
    const plan = await at.fast(['destroy', ...stack, ...allowed, '--out', 'gone.plan'], secrets)
    expect([plan.code, plan.stdout.includes('refused')]).toEqual([0, false])
    expect(plan.stdout).toContain(`- delete shop/cart/db-1 (${ADDRESS}) cloud.database "orders"\n`)
    at.simulator.clearLog()
    const applied = await at.fast(['apply', 'gone.plan', '--auto-approve'], secrets)
    expect([applied.code, at.writes.map(it => it.split(' ')[0])]).toEqual([0, ['DELETE', 'DELETE']])
  })
})
