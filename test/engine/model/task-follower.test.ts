import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {followToEnd, type Sight, TaskFollower} from '../../../src/engine/model/task-follower.ts'

describe('a task that is followed', () => {
  const follow = async (sights: readonly Sight<string>[], timeoutMs = 60_000) => {
    const clock = new VirtualClock(0)
    let looks = 0
    const end = await clock.run(
      followToEnd(async () => sights[Math.min(looks++, sights.length - 1)] ?? 'unclear', {clock, everyMs: 1_000, timeoutMs}),
    )
    return {end, looks, ms: clock.now()}
  }
  const runs: Sight<string> = {over: false, value: 'running'}

  it('may be unknown for its first five reads, and is lost with the sixth', async () => {
    expect(await follow(['unknown', 'unknown', 'unknown', 'unknown', 'unknown', {over: true, value: 'done'}])).toMatchObject({
      end: {value: 'done'},
      looks: 6,
    })
    expect(await follow(['unknown'])).toMatchObject({end: 'lost', looks: 6, ms: 5_000})
  })

  it('is unknown as often whatever it showed in between', async () => {
    const {end, looks} = await follow(['unknown', runs, 'unknown', 'unclear', 'unknown', runs, 'unknown'])
    expect([end, looks]).toEqual(['lost', 9])
  })

  it('goes on for as long as it runs or an answer says nothing, until the time is over', async () => {
    expect(await follow([runs, 'unclear', runs], 10_000)).toMatchObject({end: undefined, ms: 10_000})
  })

  it('is one of many, where many are watched at once', () => {
    const [one, other] = [new TaskFollower<string>(), new TaskFollower<string>()]
    for (let i = 0; i < 5; i++) expect(one.saw('unknown')).toBeUndefined()
    expect(other.saw('unknown')).toBeUndefined()
    expect(one.saw('unknown')).toBe('lost')
  })
})
