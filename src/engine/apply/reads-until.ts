/**
 * An API as a run uses it that may be told to stop: from then on nothing of it is read any more, and what is being read is
 * given up, whoever waits for it. Writes are left to arrive.
 */
import type {Api} from '../../base/apis.ts'
import type {Backend} from '../model/backend.ts'

type BackendOf = (stack: string, api: Api) => Backend

/** @returns the same backend for the same one: who shares a look finds it by that */
export function readsUntil(signal: AbortSignal, backendOf: BackendOf): BackendOf {
  const known = new Map<Backend, Backend>()
  return (stack, api) => {
    const backend = backendOf(stack, api)
    const made = known.get(backend) ?? readingUntil(signal, backend)
    known.set(backend, made)
    return made
  }
}

function readingUntil(signal: AbortSignal, backend: Backend): Backend {
  const {reader} = backend
  return {
    name: backend.name,
    spending: backend.spending,
    now: backend.now,
    ...(backend.createsAtOnce ? {createsAtOnce: true} : {}),
    write: (request, options) => backend.write(request, options),
    tasks: options => backend.tasks({signal, ...options}),
    task: (id, options) => backend.task(id, {signal, ...options}),
    reader: {
      list: (request, options) => reader.list(request, {signal, ...options}),
      prove: options => reader.prove({signal, ...options}),
      read: (request, options) => reader.read(request, {signal, ...options}),
      forget: path => reader.forget(path),
    },
  }
}
