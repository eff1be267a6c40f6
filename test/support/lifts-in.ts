import type {Lifts} from '../../src/engine/model/plan.ts'

/** What a command would be given, from text that is to be copied. */
export function liftsIn(fragment: string): Partial<Lifts> {
  const words = [...fragment.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(it => it[1] ?? it[2] ?? '')
  const values = (flag: string) => words.filter((_, at) => words[at - 1] === flag)
  const [maxDestroy] = values('--max-destroy')
  return {
    ...(words.includes('--allow-destroy') ? {allowDestroy: values('--allow-destroy')} : {}),
    ...(words.includes('--adopt') ? {adopt: values('--adopt')} : {}),
    ...(maxDestroy === undefined ? {} : {maxDestroy}),
    ...(words.includes('--skip-blocked') ? {skipBlocked: true} : {}),
    ...(words.includes('--no-refuse-risky') ? {refuseRisky: false} : {}),
    ...(values('--on-drift').includes('overwrite') ? {onDrift: 'overwrite' as const} : {}),
  }
}
