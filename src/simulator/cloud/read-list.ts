/** One way to answer a collection, in the request's own answer or in a task's (wire facts, "Task body"). */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import type {ListName} from '../base/collections.ts'
import {onePage} from '../base/list-query.ts'
import {drawDuration} from '../base/random.ts'
import {listed} from '../base/store.ts'
import type {Entries, Entry, Fields} from '../base/world.ts'
import {listBody, type SpellingOptions} from './spelling.ts'
import {newTask, showTask} from './tasks.ts'

export const viewOf = ({config, now, world}: Exchange, inList: boolean): SpellingOptions => ({
  config: config.cloud,
  now,
  inList,
  random: world.random,
})

interface ListRequest {
  readonly name: ListName
  /** What the wrapped body calls it, where that differs. */
  readonly key?: string
  readonly entries: Entries
  readonly show: (view: SpellingOptions, id: string, entry: Entry, fields: Fields) => Fields
  readonly subscriptionId?: string
}

export function readList(exchange: Exchange, request: ListRequest): Answer {
  const {config, now, world} = exchange
  const {cloud} = config
  const all = listed(request.entries, now, cloud.listLagMs)
  if (request.name === 'databases' && all.length === 0 && cloud.emptyDatabaseList === '404') {
    throw new Refusal(404, 'DATABASES_NOT_FOUND', 'The subscription has no databases.')
  }
  const view = viewOf(exchange, true)
  const shown = onePage(exchange, all, ({id, entry, fields}) => request.show(view, id, entry, fields), {
    paging: cloud.paging,
    shuffled: cloud.shuffled,
    badRequest: 'INVALID_REQUEST',
  })
  const body = listBody(cloud, request.key ?? request.name, shown, request.subscriptionId)
  if (!cloud.asynchronousLists.includes(request.name)) return {status: 200, json: body}
  const command = `${request.name}GetRequest`
  const doneAt = now + drawDuration(world.random, cloud.taskMsByCommand[command] ?? cloud.taskMs)
  return {status: 202, json: showTask(cloud, newTask(world, now, {command, doneAt, resource: body}), now)}
}
