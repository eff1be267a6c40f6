import {mkdtempSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {commitIn, currentJob, jobOf} from '../../src/config/ci-job.ts'

const SHA = 'c0ffee0123456789c0ffee0123456789c0ffee01'
const HEAD = 'd'.repeat(40)

describe('the CI job', () => {
  it('is none outside of CI', () => {
    expect(currentJob({HOME: '/home/ana', GITHUB_SHA: ''})).toBeUndefined()
  })

  it('of GitHub is about the head of the pull request, not about the merge commit', () => {
    const event = join(mkdtempSync(join(tmpdir(), 'svcctl-job-')), 'event.json')
    const all = {
      GITHUB_ACTIONS: 'true',
      GITHUB_SHA: SHA,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_RUN_ID: '42',
      GITHUB_RUN_NUMBER: '3',
      GITHUB_EVENT_PATH: event,
      GITHUB_API_URL: 'https://git.example.com/api/v3/',
      GITHUB_TOKEN: 't',
    }
    expect(currentJob(all)).toEqual({
      host: 'github',
      apiUrl: 'https://git.example.com/api/v3',
      repository: 'o/r',
      commit: SHA,
      run: 42,
      token: 't',
      url: 'https://github.com/o/r/actions/runs/42',
    })
    writeFileSync(event, JSON.stringify({pull_request: {number: 7, head: {sha: HEAD}}}))
    expect(currentJob(all)).toMatchObject({commit: HEAD, request: 7})
    writeFileSync(event, '{"pull_request": {"number": "7", "head": null}}')
    expect(currentJob({...all, GITHUB_REF: 'refs/pull/9/merge'})).toMatchObject({commit: SHA, request: 7})
    expect(currentJob({...all, GITHUB_EVENT_PATH: '/dev/zero'})).toMatchObject({commit: SHA})
    writeFileSync(event, '[')
    expect(currentJob({...all, GITHUB_REF: 'refs/pull/9/merge'})).toMatchObject({commit: SHA, request: 9})
  })

  it('of GitLab is about the head of the source branch', () => {
    const all = {
      GITLAB_CI: 'true',
      CI_COMMIT_SHA: SHA,
      CI_PROJECT_PATH: 'g/p',
      CI_PROJECT_ID: '5',
      CI_PIPELINE_ID: '900',
      CI_MERGE_REQUEST_IID: '4',
      CI_SERVER_URL: 'https://git.example.com',
    }
    expect(currentJob(all)).toEqual({
      host: 'gitlab',
      apiUrl: 'https://git.example.com/api/v4',
      repository: 'g/p',
      project: '5',
      commit: SHA,
      run: 900,
      request: 4,
    })
    expect(currentJob({...all, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: HEAD})?.commit).toBe(HEAD)
    expect(jobOf('gitlab', {}).run).toBe(0)
  })

  it('has no commit that is none', () => {
    expect(['main', 'c0ffee', `${SHA}\n`, 'C0FFEE01', `${SHA}${SHA}`].map(commitIn)).toEqual([
      undefined,
      undefined,
      SHA,
      'c0ffee01',
      undefined,
    ])
  })
})
