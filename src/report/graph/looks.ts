/** How boxes are told apart at a glance. What they do stands in them too: nothing is said by colour alone. */
export interface BoxLook {
  readonly fill: string
  readonly stroke: string
  readonly darkFill: string
  readonly darkStroke: string
}

const RED: BoxLook = {fill: '#fdecea', stroke: '#b42318', darkFill: '#3a1d1b', darkStroke: '#ff9d92'}
const AMBER: BoxLook = {fill: '#fdf3dd', stroke: '#8a4b00', darkFill: '#35290f', darkStroke: '#f3c069'}
const GREEN: BoxLook = {fill: '#e5f5ea', stroke: '#17663a', darkFill: '#15301f', darkStroke: '#7fd7a0'}
const BLUE: BoxLook = {fill: '#e7f0fd', stroke: '#0b57c2', darkFill: '#16273f', darkStroke: '#8ab8ff'}
const PLAIN: BoxLook = {fill: '#ffffff', stroke: '#515c6d', darkFill: '#181e27', darkStroke: '#a5b0c0'}

const LOOKS: Readonly<Record<string, BoxLook>> = {
  failed: RED,
  delete: RED,
  replace: RED,
  update: AMBER,
  blocked: AMBER,
  create: GREEN,
  adopt: BLUE,
  move: BLUE,
  forget: BLUE,
}

export const lookOf = (name: string): BoxLook => (Object.hasOwn(LOOKS, name) ? (LOOKS[name] ?? PLAIN) : PLAIN)
