import {Fn, Lazy, type TerraformStack, TerraformVariable, Token} from 'cdktf'
import {describe, expect, it} from 'vitest'
import {ClusterUser, Database, type SpecValueError, secret, unchecked} from '../../../src/index.ts'
import {triggers} from './synthesized.ts'

/** One variable of each type. */
function variablesOf(stack: TerraformStack) {
  return {
    text: new TerraformVariable(stack, 'text', {type: 'string'}),
    number: new TerraformVariable(stack, 'number', {type: 'number'}),
    flag: new TerraformVariable(stack, 'flag', {type: 'bool'}),
    list: new TerraformVariable(stack, 'list', {type: 'list(string)'}),
    numbers: new TerraformVariable(stack, 'numbers', {type: 'list(number)'}),
    map: new TerraformVariable(stack, 'map', {type: 'map(string)'}),
  }
}
type Variables = ReturnType<typeof variablesOf>

/** The triggers of one object of a kind that takes any field. */
const rendered = (fields: (variables: Variables, stack: TerraformStack) => Record<string, unknown>) => {
  const {user} = triggers(stack => new ClusterUser(stack, 'user', {name: 'n', ...fields(variablesOf(stack), stack)}))
  const {kind: _, ...rest} = user ?? {}
  return rest
}

describe('an expression in a spec', () => {
  it('of text has a key of its own and leaves no trace in the literals', () => {
    expect(rendered(({text}) => ({role: text.stringValue}))).toEqual({spec: '{"name":"n"}', 'spec/role': '${var.text}'})
  })

  it('stands where certain words are taken: a variable, its text, a function, and text known only when the program runs', () => {
    const {d} = triggers(stack => {
      const {text} = variablesOf(stack)
      new Database(stack, 'd', {
        subscription: 's',
        name: 'd',
        memoryLimitInGb: 1,
        protocol: unchecked('redis'),
        dataPersistence: text.value,
        dataEvictionPolicy: unchecked(text.stringValue),
        throughputMeasurement: {by: unchecked(Fn.lower(text.stringValue))},
      })
    })
    expect(d).toEqual({
      kind: 'cloud.database',
      spec: '{"memoryLimitInGb":1,"name":"d","protocol":"redis","subscription":"s","throughputMeasurement":{}}',
      'json/dataPersistence': '${jsonencode(var.text)}',
      'spec/dataEvictionPolicy': '${var.text}',
      'spec/throughputMeasurement/by': '${lower(var.text)}',
    })
  })

  it('of a number is never written as a number', () => {
    expect(rendered(({number}) => ({size: number.numberValue}))).toEqual({spec: '{"name":"n"}', 'spec/size': '${var.number}'})
  })

  it('of a boolean goes through jsonencode, which keeps it a boolean', () => {
    expect(rendered(({flag}) => ({on: flag.booleanValue}))).toEqual({spec: '{"name":"n"}', 'json/on': '${jsonencode(var.flag)}'})
  })

  it('of a list, a map or anything goes through jsonencode', () => {
    expect(
      rendered(({list, numbers, map, text}) => ({
        list: list.listValue,
        numbers: Token.asNumberList(numbers.value),
        map: Token.asStringMap(map.value),
        numberMap: Token.asNumberMap(map.value),
        any: text.value,
      })),
    ).toEqual({
      spec: '{"name":"n"}',
      'json/list': '${jsonencode(var.list)}',
      'json/numbers': '${jsonencode(var.numbers)}',
      'json/map': '${jsonencode(var.map)}',
      'json/numberMap': '${jsonencode(var.map)}',
      'json/any': '${jsonencode(var.text)}',
    })
  })

  it('of a field that takes a list or an object goes through jsonencode even where cdktf calls it text', () => {
    const {db} = triggers(stack => {
      const {list} = variablesOf(stack)
      new Database(stack, 'db', {
        subscription: 's',
        name: 'db',
        memoryLimitInGb: 1,
        modules: Fn.concat([list.listValue, ['a']]),
        alerts: [Fn.element(list.listValue, 0)],
      })
    })
    expect(db).toEqual({
      kind: 'cloud.database',
      spec: '{"alerts":[null],"memoryLimitInGb":1,"name":"db","subscription":"s"}',
      'json/modules': '${jsonencode(concat(var.list, ["a"]))}',
      'json/alerts/0': '${jsonencode(element(var.list, 0))}',
    })
  })

  it('deep inside keeps the places around it: a null in its slot of a list, an object without its field', () => {
    expect(
      rendered(({text, number, flag}) => ({
        a: ['x', text.stringValue, {b: number.numberValue}],
        'c/d': {'e~f': flag.value},
      })),
    ).toEqual({
      spec: '{"a":["x",null,{}],"c/d":{},"name":"n"}',
      'spec/a/1': '${var.text}',
      'spec/a/2/b': '${var.number}',
      'json/c~1d/e~0f': '${jsonencode(var.flag)}',
    })
  })

  it('mixed with text is a template of both, numbers included', () => {
    expect(
      rendered(({text, number}) => ({
        a: `from ${text.stringValue} to ${number.numberValue}1, done`,
        b: `-${number.numberValue}`,
      })),
    ).toEqual({
      spec: '{"name":"n"}',
      'spec/a': 'from ${var.text} to ${var.number}1, done',
      'spec/b': '-${var.number}',
    })
  })

  it('after a dollar sign does not become an escape, nor does text that looks like an expression become one', () => {
    expect(
      rendered(({text, number}) => ({
        a: `$${text.stringValue}`,
        b: `\${x} %{y} $$${number.numberValue}% {`,
      })),
    ).toEqual({
      spec: '{"name":"n"}',
      'spec/a': '${"$"}${var.text}',
      'spec/b': '$${x} %%{y} ${"$$"}${var.number}% {',
    })
  })

  it('that a lazy value produces is hoisted, and a literal that it produces is a literal', () => {
    expect(
      rendered(({text, number}) => ({
        literal: Lazy.stringValue({produce: () => 'late'}),
        number: Lazy.numberValue({produce: () => 3}),
        list: Lazy.listValue({produce: () => ['a', 'b']}),
        any: Lazy.anyValue({produce: () => ({x: [1, text.stringValue], y: null})}),
        expression: Lazy.stringValue({produce: () => text.stringValue}),
        numeric: Lazy.numberValue({produce: () => number.numberValue}),
        mixed: `${Lazy.stringValue({produce: () => 'very'})} late`,
        nothing: Lazy.stringValue({produce: () => undefined}),
        null: Token.nullValue(),
      })),
    ).toEqual({
      spec: '{"any":{"x":[1,null],"y":null},"list":["a","b"],"literal":"late","mixed":"very late","name":"n","null":null,"number":3}',
      'spec/any/x/1': '${var.text}',
      'spec/expression': '${var.text}',
      'spec/numeric': '${var.number}',
    })
  })

  it('made of functions is Terraform as cdktf writes it', () => {
    expect(rendered(({text, list}) => ({a: Fn.upper(text.stringValue), b: Fn.join('-', list.listValue)}))).toEqual({
      spec: '{"name":"n"}',
      'spec/a': '${upper(var.text)}',
      'spec/b': '${join("-", var.list)}',
    })
  })

  it('of one field hides nothing of the others', () => {
    expect(rendered(({text}) => ({role: 'admin', email: text.stringValue}))).toEqual({
      spec: '{"name":"n","role":"admin"}',
      'spec/email': '${var.text}',
    })
  })
})

describe('text in a spec', () => {
  it('that looks like an expression is text, and a warning says so once', () => {
    const warnings: string[] = []
    const {user} = triggers(stack => {
      const object = new ClusterUser(stack, 'user', {name: '${var.x} %{ if true } $${y}'})
      stack.node.addValidation({
        validate: () => {
          warnings.push(...object.node.metadata.filter(({type}) => type === '@cdktf/warn').map(({data}) => String(data)))
          return []
        },
      })
    })
    expect(user?.spec).toBe('{"name":"$${var.x} %%{ if true } $$${y}"}')
    expect(warnings).toEqual([
      '/name has "${" or "%{" typed by hand; it is taken as text. For an expression use a reference, a TerraformVariable or Fn.',
    ])
  })

  it.each(['1e5', '-1.5e+300 -e-', 'a\n"quoted" \\ é 漢 \u0000', '#{x}', '&{y}', '$', '%'])('%j comes through as it is', value => {
    const {spec} = rendered(() => ({value}))
    expect(JSON.parse(spec ?? '')).toEqual({name: 'n', value})
  })
})

describe('a value no stack file can hold', () => {
  const cases: [string, (variables: Variables) => unknown, string][] = [
    ['NaN', () => Number.NaN, 'is NaN'],
    ['a function', () => () => 1, 'is a function'],
    ['a date', () => new Date(0), 'is a Date'],
    ['a construct', ({text}) => text, 'is a construct'],
    ['one element of a list expression', ({list}) => ['a', ...list.listValue], 'is one element of a list that is an expression'],
    [
      'a list inside text',
      ({text}) => `x ${Token.asString(Lazy.anyValue({produce: () => [text.stringValue]}))}`,
      'has a list or an object inside text',
    ],
    ['a key that is an expression', ({text}) => ({[text.stringValue]: 1}), 'has a key that is an expression'],
    [
      'a lazy value that produces itself',
      () => {
        const self: {it?: unknown} = {}
        self.it = Lazy.anyValue({produce: () => ({again: self.it})})
        return self.it
      },
      'produces itself',
    ],
  ]
  it.each(cases)('%s is refused with construct and place', (_, value, problem) => {
    let error: SpecValueError | undefined
    try {
      rendered(variables => ({deep: [{field: value(variables)}]}))
    } catch (thrown) {
      error = thrown as SpecValueError
    }
    expect(error).toMatchObject({code: 'E_SPEC_VALUE', exit: 64})
    expect(error?.message).toContain('shop/user: /deep/0/field')
    expect(error?.message).toContain(problem)
  })
})

describe('a secret', () => {
  it('never stands in the stack file, only its variable does', () => {
    expect(rendered((_, stack) => ({password: secret(stack, 'pw'), login: `user:${secret(stack, 'pw')}`}))).toEqual({
      spec: '{"name":"n"}',
      'spec/password': '${var.pw}',
      'spec/login': 'user:${var.pw}',
    })
  })
})
