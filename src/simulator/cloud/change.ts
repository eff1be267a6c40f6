/**
 * The life of a write: may it run now, what does it change and when, and what is answered. All writes of the cloud API
 * go through `accept`.
 */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import {drawDuration} from '../base/random.ts'
import {find, schedule, statusOf} from '../base/store.ts'
import type {Fields, TaskError, WorldChange} from '../base/world.ts'
import {isRunning, newTask, showTask} from './tasks.ts'

interface Write {
  readonly command: string
  readonly change: WorldChange
  readonly resourceId: string
  /** The subscription it happens in; absent for one that is created. */
  readonly subscriptionId?: string
  /** From the end of the task until the object is ready. */
  readonly readyMs: number
  /** The status of the object meanwhile; absent: it is ready at once. */
  readonly meanwhile?: string
  /** Status of a synchronous answer. */
  readonly done: 200 | 201
  /** The object as a synchronous answer shows it. */
  readonly show?: () => Fields
}

const NOT_ACTIVE: TaskError = {
  code: 'SUBSCRIPTION_NOT_ACTIVE',
  message: 'The subscription is not active: another change is running.',
  status: '403 FORBIDDEN',
}
const TOO_MANY_PENDING: TaskError = {
  code: 'TOO_MANY_PENDING_SUBSCRIPTIONS',
  message: 'Too many subscriptions of this account are pending.',
  status: '403 FORBIDDEN',
}

export function accept(exchange: Exchange, write: Write): Answer {
  const {world, config, now} = exchange
  const {cloud} = config
  const error = obstacle(exchange, write)
  const taskMs = cloud.asynchronous ? drawDuration(world.random, cloud.taskMsByCommand[write.command] ?? cloud.taskMs) : 0
  const doneAt = now + taskMs
  if (error) {
    const task = newTask(world, now, {command: write.command, doneAt, error})
    return {status: cloud.taskAnswer, json: showTask(cloud, task, now)}
  }
  perform(exchange, write, doneAt)
  if (cloud.asynchronous) {
    const task = newTask(world, now, {command: write.command, doneAt, resourceId: write.resourceId})
    return {status: cloud.taskAnswer, json: showTask(cloud, task, now)}
  }
  if (cloud.synchronousAnswer === 'no-content') return {status: 204}
  if (cloud.synchronousAnswer === 'empty' || !write.show) return {status: write.done}
  return {status: write.done, json: write.show()}
}

/** What keeps a write from happening: thrown where the request itself is refused, answered where its task fails. */
function obstacle(exchange: Exchange, write: Write): TaskError | undefined {
  const {world, config, now, fault} = exchange
  if (fault?.type === 'fail-task') {
    const {code, message, field, status = '400 BAD_REQUEST'} = fault
    return {code, message, status, ...(field === undefined ? {} : {field})}
  }
  const {busy, maxConcurrentChanges, maxPendingSubscriptions} = config.cloud
  if (maxConcurrentChanges !== null && runningChanges(exchange) >= maxConcurrentChanges) {
    throw new Refusal(429, 'TOO_MANY_CONCURRENT_CHANGES', 'Too many changes are running at once in this account.')
  }
  if (write.subscriptionId === undefined && maxPendingSubscriptions !== null && pendingSubscriptions(exchange) >= maxPendingSubscriptions) {
    return refuseOrFail(exchange, TOO_MANY_PENDING)
  }
  if (busy !== 'allow' && write.subscriptionId !== undefined) {
    const subscription = find(world, `cloud/subscriptions/${write.subscriptionId}`)
    const locked = subscription?.lockedUntil !== undefined && now < subscription.lockedUntil
    const starting = subscription !== undefined && statusOf(subscription, now) !== 'active'
    if (locked || starting) return refuseOrFail(exchange, NOT_ACTIVE)
  }
  return undefined
}

function refuseOrFail(exchange: Exchange, error: TaskError): TaskError {
  if (exchange.config.cloud.busy === 'task' && exchange.config.cloud.asynchronous) return error
  throw new Refusal(409, error.code, error.message)
}

const runningChanges = ({world, now}: Exchange): number =>
  Object.values(world.cloud.tasks).filter(task => isRunning(task, now) && task.resource === undefined).length

/** Subscriptions that are not active, the ones still awaited included. */
function pendingSubscriptions({world, now}: Exchange): number {
  const visible = Object.values(world.cloud.subscriptions).filter(it => it.gone === undefined && statusOf(it, now) !== 'active').length
  return visible + world.effects.filter(effect => effect.do === 'add' && /^cloud\/subscriptions\/[^/]+$/.test(effect.path)).length
}

function perform(exchange: Exchange, write: Write, doneAt: number): void {
  const {world, config, now, fault} = exchange
  const {change, meanwhile, readyMs} = write
  const lagMs = config.cloud.listLagMs
  const endStatus = fault?.type === 'end-status' ? fault.status : undefined
  const readyAt = doneAt + readyMs
  if (change.do === 'add') {
    const {entry} = change
    if (endStatus !== undefined) entry.status = endStatus
    if (meanwhile !== undefined && readyAt > now) entry.busy = {until: readyAt, status: meanwhile}
    for (const database of Object.values(entry.children.databases ?? {})) {
      if (readyAt > now) database.busy = {until: readyAt, status: 'pending'}
    }
    schedule(world, now, config.cloud.appears === 'accepted' ? now : doneAt, change, lagMs)
  } else {
    const target = find(world, change.path)
    const until = change.do === 'remove' ? doneAt : readyAt
    if (target && meanwhile !== undefined && until > now) target.busy = {until, status: meanwhile}
    if (change.do === 'change' && endStatus !== undefined) change.status = endStatus
    schedule(world, now, doneAt, change, lagMs)
  }
  if (write.subscriptionId !== undefined) {
    const subscription = find(world, `cloud/subscriptions/${write.subscriptionId}`)
    const until = config.cloud.followsDatabases ? readyAt : doneAt
    if (subscription) subscription.lockedUntil = Math.max(subscription.lockedUntil ?? 0, until)
  }
}
