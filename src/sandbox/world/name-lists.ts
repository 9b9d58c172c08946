/** Invented names. None of them is meant to be an existing company, project or person. */

export const COUNTRIES = parseTable(
  `Iceland, IS, ISL, 354, Selfoss, Kaldidalur, Hvammsheidi, Langasandur
Kenya, KE, KEN, 254, Nakuru, Olmarei, Kilindoni, Taru Hills
India, IN, IND, 91, Nashik, Vairagad, Sonapur, Kesarwadi
Brazil, BR, BRA, 55, Cuiaba, Rio Verdinho, Serra Clara, Lagoa Mansa
Ukraine, UA, UKR, 380, Poltava, Zelenivka, Stepova, Lisky
Ghana, GH, GHA, 233, Kumasi, Asempa, Nkwanta Ridge, Adoma
Viet Nam, VN, VNM, 84, Da Lat, Song Lam, Dak Ria, Binh Xuan
Peru, PE, PER, 51, Pucallpa, Quebrada Azul, Alto Sereno, Yanamayo
Portugal, PT, PRT, 351, Evora, Serra do Linho, Vale Manso, Montalvar
Indonesia, ID, IDN, 62, Samarinda, Sungai Tenang, Tanjung Lestari, Bukit Hijau
Morocco, MA, MAR, 212, Agadir, Oued Nour, Tizi Amane, Ait Salma
Chile, CL, CHL, 56, Temuco, Llanura Sur, Cerro Plomizo, Pichimalal`,
  toCountry,
);

export type Country = ReturnType<typeof toCountry>;

export type ProjectKind = ReturnType<typeof toProjectKind>;

export const PROJECT_KINDS = parseTable(
  `Reforestation, Native trees return to grazed and eroded land., removal, 14, Afforestation and reforestation
Clean Cookstoves, Households cook with half the wood they used before., avoidance, 3, Energy demand
Wind Farm, Turbines replace power from coal and oil., avoidance, 1, Energy industries
Biochar, Crop residues become stable carbon in the soil., removal, 15, Agriculture
Mangrove Restoration, Coastal forest is planted and guarded with the villages., removal, 14, Afforestation and reforestation
Landfill Gas Recovery, Methane is caught and burnt for power., avoidance, 13, Waste handling and disposal
Mineral Storage, Captured carbon dioxide is turned to stone underground., removal, 16, Carbon capture and storage
Solar Park, Panels feed a grid that ran on diesel., avoidance, 1, Energy industries
Household Biogas, Manure becomes cooking gas and fertilizer., avoidance, 15, Agriculture
Peatland Rewetting, Drained peat is wet again and stops burning away., avoidance, 14, Afforestation and reforestation`,
  toProjectKind,
);

/** Names and types of the first organizations. */
export const ORGANIZATIONS = [
  ['Brimvik Carbon Marketplace', 'marketParticipant'],
  ['Soltera Project Development', 'projectDeveloper'],
  ['Verdelmar Land Stewards', 'projectProponent'],
  ['Halvorsund Trading House', 'other'],
] as const;

export const APPS = ['Harbour Storefront', 'Evergreen Ledger'] as const;

export const COMPANY_STEMS = splitWords(
  'Nordlys Valdemarsund Aurelia Montalvar Kestrelwood Sableforth Ostermoor Lindqvik Palomera Tarnfield Brightwater Calderhaus Fennimore Zephyrine Rosmarine Quillford Ambervale Drakensund Ironbrook Larkmere Solvanna Thistledown Umbrafell Veridane Wexcombe Yarrowdale Corvantis Elmstrand Glimmerfjord Havenport',
);
export const COMPANY_TRADES = splitWords(
  'Shipping Airways Foods Logistics Textiles Instruments Hotels Paper Chemicals Bakeries Software Breweries Ceramics Freight Pharma Glass Insurance Furniture Ferries Robotics',
);
export const COMPANY_FORMS = splitWords('AS Ltd GmbH S.A. ehf. Pvt. B.V. Inc. ApS Oy');

export const FIRST_NAMES = splitWords(
  'Aldis Benjiro Chiamaka Davor Elodie Farrukh Gudny Hemani Isadora Jorunn Kwabena Liora Mateus Nanami Oluchi Pavlo Quynh Runa Sizwe Tindra',
);
export const LAST_NAMES = splitWords(
  'Aldenvik Barasova Cintrelli Dalhousen Ekwendu Fjallgren Gorastova Hellavik Imbuwa Jantzoni Kerembe Lowandi Marquesta Nyforsen Okandeji Prastovic Quellmann Rindvall Sorabhan Tveranger',
);

export const REASONS = [
  'Voluntary purposes',
  'Corporate emission compensation',
  'Overall mitigations of global emissions',
  'Compliance',
  'Other',
] as const;

export const COMMENTS = [
  'Emissions of the delivery fleet, first half of the year.',
  'Business travel of all offices.',
  'On behalf of our customers, see invoice.',
  'Scope 1 and 2 of the past year.',
  'Event: annual meeting, 400 guests.',
  'Product line "Zero", batch 7.',
] as const;

/** A list with at least one item. */
type NonEmpty<Item> = readonly [Item, ...Item[]];

/** Converts one row of `COUNTRIES` to an object with name, country codes, calling code, city and places. */
function toCountry([name = '', alpha2 = '', alpha3 = '', code, city = '', ...places]: readonly string[]) {
  return { name, alpha2, alpha3, callingCode: Number(code), city, places: toNonEmpty(places) };
}

/** Converts one row of the table `PROJECT_KINDS` to an object with named fields. */
function toProjectKind([title = '', summary = '', effect, code = '', sectorTitle = '']: readonly string[]) {
  const methodology = `SBX-M${code.padStart(3, '0')}`;
  return { title, summary, removal: effect === 'removal', sector: Number(code), sectorTitle, methodology };
}

/** Parses a table with one row per line and commas between cells. */
function parseTable<Item>(text: string, parseRow: (cells: readonly string[]) => Item): NonEmpty<Item> {
  return toNonEmpty(text.split('\n').map(line => parseRow(line.split(', '))));
}

/** Splits a text at spaces. */
function splitWords(list: string): NonEmpty<string> {
  return toNonEmpty(list.split(' '));
}

/** Returns a copy of a list, typed as a list with at least one item. Throws if the list is empty. */
function toNonEmpty<Item>([first, ...others]: readonly Item[]): NonEmpty<Item> {
  if (first === undefined) throw new RangeError('the list is empty');
  return [first, ...others];
}
