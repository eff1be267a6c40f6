/** docs/migrating-from-terraform.md, walked from its first line to its last. */
import {copyFileSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {world} from '../../src/simulator/index.ts'
import {linkPackages} from '../support/app.ts'
import {blocksIn, commandsIn, runLine} from '../support/page.ts'
import {type ServedProgram, serveProgram} from '../support/served-program.ts'
import {FAST, type Site, site} from '../support/site.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const commands = commandsIn(blocksIn(readFileSync(join(root, 'docs', 'migrating-from-terraform.md'), 'utf8')), 'sh')

let here: Site
let program: ServedProgram
let path: string

beforeAll(async () => {
  here = await site()
  world()
    .subscription('main', {paymentMethodId: 7001})
    .database('cache', {memoryLimitInGb: 2, replication: true})
    .peering({provider: 'AWS', region: 'eu-west-1', awsAccountId: '123456789012', vpcId: 'vpc-aaa', vpcCidr: '10.1.0.0/24'})
    .peering({provider: 'GCP', vpcProjectUid: 'project-b', vpcNetworkName: 'net-b'})
    .into(here.simulator)
  copyFileSync(join(root, 'test/takeover/states/plain.json'), join(here.folder, 'state.json'))
  // What waits for a task looks often.
  program = await serveProgram(here.home, `case "$1" in plan|apply|drift|undo) set -- "$@" ${FAST.join(' ')};; esac`)
  path = `${program.bin}:${process.env.PATH ?? ''}`
  // As `npm install` would leave it.
  linkPackages(here.folder)
})
afterAll(async () => {
  await program.close()
  await here.close()
})

describe('docs/migrating-from-terraform.md', () => {
  it('can be followed: nothing is sent before the first change, and that is sent and undone', {timeout: 300_000}, async () => {
    expect(commands.length).toBeGreaterThan(12)
    const sent: Record<string, readonly string[]> = {}
    for (const {text, exit} of commands) {
      here.simulator.clearLog()
      const ended = await runLine(text, here.folder, {...here.env, PATH: path})
      expect(ended, ended.output).toMatchObject({text, code: exit})
      if (here.writes.length > 0) sent[text.replace(/^.*&& /, '')] = here.writes
    }
    const one = ['PUT /subscriptions/1/databases/1']
    expect(sent).toEqual({'svcctl apply first.plan --auto-approve': one, 'svcctl apply back.plan --auto-approve': one})
  })
})
