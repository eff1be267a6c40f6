/** What is started is the process itself: it runs until it is told to stop. */
import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {type Site, site} from '../support/site.ts'

let at: Site
beforeAll(async () => {
  at = await site()
})
afterAll(() => at.close())

async function printed(words: readonly string[], until: RegExp): Promise<string> {
  const running = at.start(['simulator', ...words], {asItIs: true, env: {SVC_CLOUD_API_KEY: 'simulator-key'}})
  await running.says(until, 'stdout')
  running.kill('SIGTERM')
  return (await running.done).stdout
}

describe('svcctl simulator', () => {
  it('prints its keys in every form, also where the environment has the same ones already', async () => {
    const files = /simulator-files-key/
    const outputs = await Promise.all([
      printed([], files),
      printed(['-o', 'json'], files),
      printed(['-o', 'yaml'], files),
      printed(['-q', 'env.SVC_CLOUD_API_KEY'], /\n/),
    ])
    expect(outputs[0]).toContain('export SVC_CLOUD_API_KEY=simulator-key\n')
    expect(outputs[0]).toMatch(/^# control: http:\/\/\S+$/m)
    expect(outputs[1]).toMatch(/^\{.*"SVC_CLOUD_API_KEY":"simulator-key".*\}\n$/)
    expect(outputs[2]).toContain('SVC_CLOUD_API_KEY: simulator-key\n')
    expect(outputs[3]).toBe('"simulator-key"\n')
  })

  it('prints lines that a shell may read, whatever the keys of its configuration are', async () => {
    const config = join(at.folder, 'simulator.json')
    writeFileSync(config, JSON.stringify({credentials: {apiKey: `a b;'$(id)`}}))
    expect(await printed(['--config', config], /simulator-files-key/)).toContain(`export SVC_CLOUD_API_KEY='a b;'\\''$(id)'\n`)
  })
})
