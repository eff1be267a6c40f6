/** Every command of docs/adopting.md that is svcctl's, as it stands there. */
import {copyFileSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {linkPackages, makeApp} from '../support/app.ts'
import {type PageSite, pageSite} from '../support/page-site.ts'
import {plainVendorWorld} from '../support/vendor-world.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs', 'adopting.md'), 'utf8')

/** The svcctl lines of the code blocks of a section. */
function commandsOf(section: string): string[] {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const blocks = [...(text.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(it => it[1] ?? '')
  return blocks.flatMap(it => it.split('\n')).filter(it => it.startsWith('svcctl '))
}

let at: PageSite
beforeEach(async () => {
  at = await pageSite()
})
afterEach(() => at.close())

async function run(line: string | undefined, folder = at.folder): Promise<void> {
  if (line === undefined) throw new Error('the page has fewer commands')
  const {code, output} = await at.line(line, folder)
  expect([line, code], output).toEqual([line, line.includes('--dry-run') ? 2 : 0])
}

const program = (stacks: string) => `import {App, TerraformOutput, TerraformStack} from 'cdktf'
import {CloudTarget, Database, Subscription} from 'svcctl'
import {LocalBackend} from 'cdktf'

const app = new App()
${stacks}
app.synth()
`
const SHOP = `const shop = new TerraformStack(app, 'shop')
new CloudTarget(shop, 'cloud')
const subscription = new Subscription(shop, 'main', {name: 'main'})
new Database(shop, 'cache', {subscription, name: 'cache', memoryLimitInGb: 2})`

describe('docs/adopting.md', () => {
  it('takes a Terraform state over as it says', {timeout: 300_000}, async () => {
    plainVendorWorld().into(at.simulator)
    const [asCode, empty, existing, plan, ...rest] = commandsOf('A Terraform state')
    expect(rest).toEqual([])
    linkPackages(at.folder)
    copyFileSync(join(root, 'test/takeover/states/plain.json'), join(at.folder, 'state.json'))
    await run(asCode)
    await run(empty, join(at.folder, 'infrastructure'))
    rmSync(join(at.folder, 'node_modules'), {recursive: true})
    makeApp(at.folder, {'main.mjs': program(SHOP)})
    await run(existing)
    await run(plan)
    expect(at.writes).toEqual([])
  })

  it('moves, imports and forgets as it says', {timeout: 300_000}, async () => {
    const [move, rebase, pair, file, all, forget, ...rest] = commandsOf('Another svcctl ledger')
    expect(rest).toEqual([])
    const orders = (cache: boolean) =>
      `const orders = new TerraformStack(app, 'orders')\nnew CloudTarget(orders, 'cloud')\n${cache ? "new Database(orders, 'cache', {subscription: 'main', name: 'cache', memoryLimitInGb: 2})" : "new Subscription(orders, 'own', {name: 'own'})"}`
    const write = (text: string) => writeFileSync(join(at.folder, 'main.mjs'), program(text))
    makeApp(at.folder, {'main.mjs': program(`${SHOP}\n${orders(false)}`)})
    await run("svcctl apply --stack '*' --auto-approve")
    at.simulator.clearLog()
    write(`${SHOP.split('\n').slice(0, -1).join('\n')}\n${orders(true)}`)
    await run(move)
    renameSync(join(at.folder, 'terraform.orders.tfstate'), join(at.folder, 'orders.gone'))
    write(`${SHOP}\nnew LocalBackend(shop, {path: 'elsewhere.tfstate'})`)
    await run(rebase)
    // The ids of this world.
    const [id] = Object.entries(at.simulator.world.cloud.subscriptions).find(([, it]) => it.fields.name === 'main') ?? []
    writeFileSync(join(at.folder, 'pairs.json'), JSON.stringify({'null_resource.main': `cloud/subscriptions/${id}`}))
    await run(pair?.replace('12/51', `${id}/1`))
    rmSync(join(at.folder, 'elsewhere.tfstate'))
    await run(file)
    await run(all)
    await run(forget)
    expect(at.writes).toEqual([])
  })

  it('absorbs as it says', {timeout: 300_000}, async () => {
    const commands = commandsOf('What was changed by hand')
    expect(commands.length).toBe(2)
    makeApp(at.folder, {'main.mjs': program(SHOP)})
    await run('svcctl apply --auto-approve')
    at.simulator.clearLog()
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 4}})
    for (const command of commands) await run(command)
    expect(readFileSync(join(at.folder, 'main.mjs'), 'utf8')).toContain('memoryLimitInGb: 4')
    await run('svcctl plan --detailed-exitcode')
    expect(at.writes).toEqual([])
  })
})
