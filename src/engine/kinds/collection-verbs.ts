/** The requests of a collection as both APIs have them: GET and POST on the collection, GET, PUT and DELETE on its items. */
import type {Ids, Verbs} from '../model/kind.ts'

/**
 * Fills the `*` of a path with ids, from the root down.
 * @throws RangeError when there are fewer ids than `*`
 */
export function pathWith(pattern: string, ids: Ids): string {
  let next = 0
  return pattern.replaceAll('*', () => {
    const id = ids[next++]
    if (id === undefined || id === '') throw new RangeError(`${pattern} needs more ids than ${JSON.stringify(ids)}`)
    return encodeURIComponent(id)
  })
}

/**
 * @param collection - the collection's path with `*` for each parent's id: `/subscriptions/*` + `/databases`
 * @param verbs - those the API has; what is not named here is left out
 */
export function collectionVerbs<const V extends keyof Verbs>(collection: string, verbs: readonly V[]): Pick<Required<Verbs>, V> {
  const item = `${collection}/*`
  const all: Required<Verbs> = {
    list: parent => ({method: 'GET', path: pathWith(collection, parent)}),
    read: ids => ({method: 'GET', path: pathWith(item, ids)}),
    create: (parent, spec) => ({method: 'POST', path: pathWith(collection, parent), body: spec}),
    update: (ids, patch) => ({method: 'PUT', path: pathWith(item, ids), body: patch}),
    delete: ids => ({method: 'DELETE', path: pathWith(item, ids)}),
  }
  return Object.fromEntries(verbs.map(verb => [verb, all[verb]])) as Pick<Required<Verbs>, V>
}
