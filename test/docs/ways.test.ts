/** Every command of the pages about getting in and out, run as it stands there, against an account that is already full. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {world} from '../../src/simulator/index.ts'
import {linkPackages} from '../support/app.ts'
import {blocksIn, commandsIn, runLine} from '../support/page.ts'
import {type ServedProgram, serveProgram} from '../support/served-program.ts'
import {type Site, site} from '../support/site.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Of a page, or of one section of it: the rest of that page has a test of its own. */
function commandsOf(page: string, section?: string) {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const part = section === undefined ? text : (text.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '')
  return commandsIn(blocksIn(part), 'sh')
}

let here: Site
let program: ServedProgram
let path: string

beforeAll(async () => {
  here = await site()
  world()
    .subscription('main', {paymentMethodId: 7001, cloudProviders: [{provider: 'AWS', regions: [{region: 'eu-west-1'}]}]})
    .database('cache', {memoryLimitInGb: 2, replication: true, throughputMeasurement: {by: 'operations-per-second', value: 1000}})
    .rule('reader')
    .user('app', {role: 'reader'})
    .database('queue', {memoryLimitInGb: 1})
    .peering({provider: 'AWS', region: 'eu-west-1', awsAccountId: '123456789012', vpcId: 'vpc-aaa', vpcCidr: '10.1.0.0/24'})
    .peering({provider: 'GCP', vpcProjectUid: 'project-b', vpcNetworkName: 'net-b'})
    .subscription('other')
    .bdb('sessions')
    .into(here.simulator)
  program = await serveProgram(here.home)
  path = `${program.bin}:${process.env.PATH ?? ''}`
  // As `npm install` would leave it, for every project below.
  linkPackages(here.folder)
})
afterAll(async () => {
  await program.close()
  await here.close()
})

describe('the pages about getting in and out', () => {
  it.each([
    ['adopting.md', 'An account that nobody declared'],
    ['leaving.md', undefined],
  ])(
    '%s has commands that do what they say, one after the other, and change nothing',
    async (page, section) => {
      expect(commandsOf(page, section).length).toBeGreaterThan(3)
      for (const {text, exit} of commandsOf(page, section)) {
        const ended = await runLine(text, here.folder, {...here.env, PATH: path})
        expect(ended, ended.output).toMatchObject({text, code: exit})
      }
      expect(here.writes).toEqual([])
    },
    300_000,
  )
})
