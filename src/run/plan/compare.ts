/**
 * `svcctl compare`: two stacks of the app beside each other, as they are declared (no request, no credentials) or as they
 * are live.
 */
import {kinds} from '../../backends/kinds.ts'
import {globPattern} from '../../base/glob.ts'
import {nearest} from '../../base/nearest.ts'
import {UsageError} from '../../base/usage-error.ts'
import {UnknownStackError} from '../../declaration/language/values/errors.ts'
import type {Declaration, StackDeclarations} from '../../engine/model/declaration.ts'
import type {Key} from '../../engine/model/value.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import {UnknownAddressError} from '../../engine/observe/choice.ts'
import type {Observation} from '../../engine/observe/observation.ts'
import {namedObjects, Words} from '../../engine/observe/selector.ts'
import {AmbiguousIdentityError, PlanProblemsError} from '../../engine/plan/build.ts'
import {type ComparedObject, type Comparison, compareObjects} from '../../engine/plan/compare.ts'
import {observeWorkspace} from '../workspace/observe-workspace.ts'
import type {Workspace} from '../workspace/workspace.ts'

/** `--map FROM=TO`: a construct, or what is inside of it, stands elsewhere in the second stack. */
export interface PlaceMap {
  readonly from: string
  readonly to: string
}

/** @throws UsageError for what is not FROM=TO */
export function placeMap(text: string): PlaceMap {
  const at = text.indexOf('=')
  const [from, to] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()]
  if (from === '' || to === '')
    throw new UsageError(`--map ${text} is not FROM=TO`, [
      'Name what stands in the first stack, and its place in the second: --map cart=basket.',
    ])
  return {from, to}
}

/** The stack that a word names: itself, or the one that a pattern fits. @throws UnknownStackError, UsageError */
export function namedStack(word: string, stacks: readonly StackDeclarations[]): StackDeclarations {
  const names = stacks.map(it => it.name)
  const fitting = stacks.filter(it => it.name === word)
  const found = fitting.length > 0 ? fitting : stacks.filter(it => globPattern(word).test(it.name))
  const [only, another] = found
  if (only === undefined) throw new UnknownStackError(word, names, nearest(word, names), 'stack')
  if (another !== undefined)
    throw new UsageError(`${word} fits several stacks: ${found.map(it => it.name).join(', ')}`, ['Name one of them.'])
  return only
}

/** @throws UnknownAddressError for a `--map` that means nothing */
export function compareDeclared(a: StackDeclarations, b: StackDeclarations, maps: readonly PlaceMap[]): Comparison {
  return compareObjects(...placed(a, b, maps), kinds)
}

/** The same of what is live in the place of what is declared. Reads; sends nothing else. @throws what observing throws */
export async function compareLive(
  workspace: Workspace,
  a: StackDeclarations,
  b: StackDeclarations,
  maps: readonly PlaceMap[],
): Promise<Comparison> {
  const [inA, inB] = placed(a, b, maps)
  const observation = await observeWorkspace(workspace, () => true)
  if (observation.ambiguous.length > 0) throw new AmbiguousIdentityError(observation.ambiguous)
  if (observation.problems.length > 0) throw new PlanProblemsError(observation.problems)
  return compareObjects(live(inA, observation), live(inB, observation), kinds)
}

/** What is not there is in neither list: a stack that was never applied has nothing. */
const live = (objects: readonly ComparedObject[], {pairs}: Observation): ComparedObject[] =>
  objects.flatMap(it => {
    const match = pairs.get(it.declaration.key)?.match
    return match === undefined ? [] : [{...it, live: match.live.fields}]
  })

function placed(a: StackDeclarations, b: StackDeclarations, maps: readonly PlaceMap[]): [ComparedObject[], ComparedObject[]] {
  const [inA, inB] = [placesIn(a), placesIn(b)]
  const moves = maps.map(({from, to}) => ({from: placeNamed(from, a, inA), to: placeNamed(to, b, inB)}))
  // The nearest to an object says most of it.
  const byDepth = moves.toSorted((x, y) => y.from.length - x.from.length)
  const moved = (place: string): string => {
    const move = byDepth.find(({from}) => place === from || place.startsWith(`${from}/`))
    return move === undefined ? place : `${move.to}${place.slice(move.from.length)}`
  }
  const objects = (stack: StackDeclarations, places: ReadonlyMap<Key, string>, to: (place: string) => string) =>
    stack.declarations.map(declaration => {
      const place = places.get(declaration.key) ?? declaration.address
      return {declaration, place: `${to(place)}${instanceOf(declaration)}`}
    })
  const first = objects(a, inA, moved)
  assertApart(first)
  return [first, objects(b, inB, it => it)]
}

/** What was mapped stands where something else of its stack stands already: nobody could say which is compared. */
function assertApart(objects: readonly ComparedObject[]): void {
  const taken = new Map<string, string>()
  for (const {declaration, place} of objects) {
    const {kind, address} = declaration
    const other = taken.get(`${kind} ${place}`)
    if (other !== undefined)
      throw new UsageError(`--map puts ${address} where ${other} is: ${place}`, ['Map the other one too, or name another place.'])
    taken.set(`${kind} ${place}`, address)
  }
}

/** Where each object stands in its stack: its construct path without the stack's, or its address where it has none. */
function placesIn({name, declarations}: StackDeclarations): ReadonlyMap<Key, string> {
  const places = new Map(declarations.map(it => [it.key, placeIn(name, it)]))
  const taken = new Map<string, number>()
  const whole = (it: Declaration) => `${it.kind} ${places.get(it.key) ?? ''}${instanceOf(it)}`
  for (const it of declarations) taken.set(whole(it), (taken.get(whole(it)) ?? 0) + 1)
  // One construct may make several objects of a kind: what cdktf calls them tells them apart.
  return new Map(
    declarations.map(it => {
      const place = places.get(it.key) ?? ''
      return [it.key, (taken.get(whole(it)) ?? 0) > 1 ? `${place} ${bareAddress(it)}` : place]
    }),
  )
}

function placeIn(stack: string, declaration: Declaration): string {
  const {construct} = declaration.source
  if (construct === undefined) return bareAddress(declaration)
  return construct.startsWith(`${stack}/`) ? construct.slice(stack.length + 1) : construct.slice(construct.indexOf('/') + 1)
}

const bareAddress = ({address}: Declaration): string => address.replace(/^null_resource\./, '').replace(/\[.*$/s, '')

const instanceOf = ({address}: Declaration): string => /\[.*$/s.exec(address)?.[0] ?? ''

/** What a side of `--map` means: a construct path, also of what only holds objects, or one object by any of its names. */
function placeNamed(word: string, stack: StackDeclarations, places: ReadonlyMap<Key, string>): string {
  const path = [`${stack.name}/`, `${stack.name}:`].reduce(
    (text, front) => (text.startsWith(front) ? text.slice(front.length) : text),
    word,
  )
  const all = [...places.values()]
  if (all.some(it => it === path || it.startsWith(`${path}/`))) return path
  const objects = namedObjects([stack], new Map(), kinds)
  const words = new Words([word], objects, kinds)
  const meant = [...new Set(objects.filter(it => words.mean(it)).flatMap(it => places.get(keyOfOperation(it)) ?? []))]
  const [only, another] = meant
  if (only === undefined) throw new UnknownAddressError([{flag: '--map', word}], objects)
  if (another !== undefined) throw new UsageError(`--map ${word} means ${meant.length} objects: ${meant.join(', ')}`, ['Name one of them.'])
  return only
}
