import {mkdtempSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {type UploadState, UploadStateFile} from '../../src/support-package/upload-state.ts'

describe('what is kept of an upload', () => {
  it('is nothing to go on with where it has more parts than an upload may have', async () => {
    const size = 3_000_000_000
    const identity = {address: 'http://files', destination: '/uploads/a', file: '/a', size, mtimeMs: 1}
    const file = new UploadStateFile(mkdtempSync(join(tmpdir(), 'svcctl-upload-')), identity)
    const state: UploadState = {version: 1, ref: 'r', partSize: 300_000, parallel: true, startedAt: 0, size, mtimeMs: 1, parts: []}
    await file.write(state)
    expect(file.read(1)).toEqual(state)
    await file.write({...state, partSize: 1})
    expect(file.read(1)).toBeUndefined()
  })
})
