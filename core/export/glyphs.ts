/**
 * A font of dots, five wide and seven high with two rows below the base line, for pictures that are made where there is no
 * other font.
 */

export const glyphWidth = 5;
/** Rows above the base line. */
export const glyphHeight = 7;

/** One character a row from the top, `0` to `v` (base 32) for its bits 00000 to 11111; rows left out at the end are empty. */
const drawn: Readonly<Record<string, string>> = {
  ' ': '',
  '!': '4444404',
  '"': 'aa',
  '#': 'aavavaa',
  $: '4fke5u4',
  '%': 'op248j3',
  '&': 'cik8lid',
  "'": '44',
  '(': '2488842',
  ')': '8422248',
  '*': '04lel4',
  '+': '044v44',
  ',': '00000664',
  '-': '000v',
  '.': '0000066',
  '/': '0112488g',
  0: 'ehjlphe',
  1: '4c4444e',
  2: 'eh1248v',
  3: 'v2421he',
  4: '26aiv22',
  5: 'vgu11he',
  6: '68guhhe',
  7: 'v124888',
  8: 'ehhehhe',
  9: 'ehhf12c',
  ':': '0660066',
  ';': '06600664',
  '<': '248g842',
  '=': '00v0v',
  '>': '8421248',
  '?': 'eh12404',
  '@': 'eh1dlle',
  A: 'ehhvhhh',
  B: 'uhhuhhu',
  C: 'ehggghe',
  D: 'sihhhis',
  E: 'vgguggv',
  F: 'vgguggg',
  G: 'ehgnhhf',
  H: 'hhhvhhh',
  I: 'e44444e',
  J: '72222ic',
  K: 'hikokih',
  L: 'ggggggv',
  M: 'hrllhhh',
  N: 'hhpljhh',
  O: 'ehhhhhe',
  P: 'uhhuggg',
  Q: 'ehhhlid',
  R: 'uhhukih',
  S: 'fgge11u',
  T: 'v444444',
  U: 'hhhhhhe',
  V: 'hhhhha4',
  W: 'hhhllla',
  X: 'hha4ahh',
  Y: 'hhha444',
  Z: 'v1248gv',
  '[': 'e88888e',
  '\\': '0g84210',
  ']': 'e22222e',
  '^': '4ah',
  _: '0000000v',
  '`': '842',
  a: '00e1fhf',
  b: 'ggmphhu',
  c: '00egghe',
  d: '11djhhf',
  e: '00ehvge',
  f: '698s888',
  g: '00fhhhf1e',
  h: 'ggmphhh',
  i: '40c444e',
  j: '2062222ic',
  k: 'ggikoki',
  l: 'c44444e',
  m: '00qllhh',
  n: '00mphhh',
  o: '00ehhhe',
  p: '00uhhhugg',
  q: '00fhhhf11',
  r: '00mpggg',
  s: '00fge1u',
  t: '88s8896',
  u: '00hhhjd',
  v: '00hhha4',
  w: '00hhlla',
  x: '00ha4ah',
  y: '00hhhhf1e',
  z: '00v248v',
  '{': '2448442',
  '|': '4444444',
  '}': '8442448',
  '~': '008l2',
  '…': '000000l',
  µ: '00hhhjtgg',
  '·': '000c',
  '‘': '244',
  '’': '448',
  '“': 'aa',
  '”': 'aa',
  '–': '000v',
  '—': '000v',
  '−': '000v',
  '→': '042v24',
  '×': '000a4a',
};

/** A frame: the letter is not in the font. */
const missing = 'vhhhhhv';

const known = new Map<string, Uint8Array>();

/** Rows of five bits, the leftmost the highest. */
export function glyphOf(letter: string): Uint8Array {
  const text = Object.hasOwn(drawn, letter) ? drawn[letter]! : missing;
  let rows = known.get(text);
  if (!rows) {
    rows = Uint8Array.from(text, (digit) => Number.parseInt(digit, 32));
    known.set(text, rows);
  }
  return rows;
}
