import {describe, expect, it} from 'vitest'
import {isLog, isNestedGzip} from '../../src/support-package/member-rules.ts'
import {defaultFileName} from '../../src/support-package/package-paths.ts'
import {displaySize} from '../../src/support-package/package-result.ts'
import {downloadPath, packageStatusOf} from '../../src/support-package/package-status.ts'
import {partSizeFor} from '../../src/support-package/upload-archive.ts'

const NOON = Date.UTC(2026, 2, 4, 12, 5, 6)

describe('names and numbers of support packages', () => {
  it('are the default file names of the contract', () => {
    expect(defaultFileName({type: 'cluster'}, NOON)).toBe('support-package-cluster-20260304T120506.tar.gz')
    expect(defaultFileName({type: 'database', uid: '7'}, NOON)).toBe('support-package-database-7-20260304T120506.tar.gz')
    expect(defaultFileName({type: 'node', uid: '2'}, NOON)).toBe('support-package-node-2-20260304T120506.tar.gz')
    expect(defaultFileName({type: 'node'}, NOON)).toBe('support-package-nodes-20260304T120506.tar.gz')
  })

  it('show sizes in powers of 1000', () => {
    expect([999, 1_500, 2_340_000, 1_999_999_999].map(displaySize)).toEqual(['999 B', '1.5 kB', '2.3 MB', '2.0 GB'])
  })

  it('grow the parts of an upload so that the number of parts suffices', () => {
    const MIB = 1024 * 1024
    expect(partSizeFor(2e9, 5 * MIB, 10_000)).toBe(5 * MIB)
    expect(partSizeFor(50_000 * MIB, 5 * MIB, 10_000)).toBe(5 * MIB)
    expect(partSizeFor(50_000 * MIB + 1, 5 * MIB, 10_000)).toBe(6 * MIB)
    // A service that asks for parts of one byte, and any number of them.
    expect(partSizeFor(3e9, 1, 5e9)).toBe(MIB)
    expect(partSizeFor(50_000 * MIB + 1, 1, 5e9)).toBe(6 * MIB)
  })
})

describe('which members are logs', () => {
  it('goes by name, or by folder for what has no telling ending', () => {
    const logs = ['a.log', 'x/b.log.1', 'c.log-20260304', 'node_1/logs/syslog', 'logs/out.txt', 'D.LOG']
    expect(logs.filter(path => !isLog(path))).toEqual([])
    expect(['a.json', 'logs/data.db', 'logs/core.bin', 'catalog', 'blog/x'].filter(isLog)).toEqual([])
    expect(['a.gz', 'b.log.2.GZ', 'c.tar.gz'].filter(path => !isNestedGzip(path))).toEqual([])
  })
})

describe('the status of a package that is made first', () => {
  it('is read in either spelling, and an unknown word means running', () => {
    expect(packageStatusOf({task_id: 't', status: 'in_progress', progress: '45%', message: 'node 2'})).toEqual({
      taskId: 't',
      status: 'in_progress',
      state: 'running',
      progress: 45,
      message: 'node 2',
    })
    expect(packageStatusOf({taskId: 9, status: 'COMPLETED'})).toMatchObject({taskId: '9', state: 'done', progress: null, message: null})
    expect(packageStatusOf({id: 'a', state: 'failed', error: {message: 'no disk'}})).toMatchObject({state: 'failed', message: 'no disk'})
    expect(packageStatusOf({task_id: 'a', status: 'pondering'})?.state).toBe('running')
    expect(packageStatusOf({status: 'completed'})).toBeUndefined()
    expect(packageStatusOf(['x'])).toBeUndefined()
  })

  it.each(['..', '%2e.', '\ud800', 'a\udc00', 1e300, 1.5])('names no task by %j, which no address can have as an id', task_id => {
    expect(packageStatusOf({task_id, status: 'completed'})).toBeUndefined()
    expect(packageStatusOf({task_id, status: 'completed'}, '7')?.taskId).toBe('7')
  })

  it('leads to a download below the cluster and nowhere else', () => {
    const done = {taskId: 'a/b', status: 'completed', state: 'done', progress: 100, message: null} as const
    const at = (downloadUrl: string) => downloadPath({...done, downloadUrl}, 'https://cluster:9443')
    expect(downloadPath(done, 'https://cluster:9443')).toBe('/v1/debuginfo/a%2Fb/download')
    expect(at('/v1/x?y=1')).toBe('/v1/x?y=1')
    expect(at('v1/x')).toBe('/v1/x')
    expect(at('https://cluster:9443/v1/x')).toBe('/v1/x')
    for (const url of ['https://other/x', '//other/x', 'http://cluster:9443/x', 'file:///etc/passwd'])
      expect(() => at(url)).toThrow('which is not the cluster')
  })
})
