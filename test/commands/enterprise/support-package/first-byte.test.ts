/** Half a minute of real time, once: many clients give up on a first byte after 30 seconds, and so do many libraries. */
import {readdirSync} from 'node:fs'
import {expect, it} from 'vitest'
import {documentOf, site} from '../../../support/site.ts'

it('a first byte after 35 seconds is waited for, by support-package and by api --raw', async () => {
  const here = await site({cluster: {debuginfo: {sizeBytes: 100_000, firstByteMs: 35_000}}})
  try {
    const [made, raw] = await Promise.all([
      here.run(['support-package', 'cluster', '-o', 'json', '--idle-timeout', '2s']),
      here.run(['api', 'enterprise', 'get', '/v1/debuginfo/all', '--raw']),
    ])
    expect([made.code, documentOf(made).success]).toEqual([0, true])
    expect(documentOf(made).elapsed_seconds).toBeGreaterThanOrEqual(35)
    expect(readdirSync(here.folder)).toHaveLength(1)
    expect(raw.code).toBe(0)
    expect(raw.stdout.length).toBeGreaterThan(1000)
  } finally {
    await here.close()
  }
}, 90_000)
