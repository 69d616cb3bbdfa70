// The pictures, in Vega-Lite: `draw` adds the rows. No colour is set but where it carries meaning:
// the page's style gives both, light and dark.
const nominal = (field, more) => ({ field, type: "nominal", ...more });
const number = (field, more) => ({ field, type: "quantitative", ...more });
// the first of the range where it is false, the second where it is true
const either = (field, range) =>
  nominal(field, { legend: null, scale: { domain: [false, true], range } });

// A figure in each row, and the interval from `low` to `high` around it.
function figuresWithIntervals(row, figure, x, tooltip) {
  return {
    encoding: { y: nominal(row, { sort: null, title: null, axis: { labelLimit: 170 } }), tooltip },
    layer: [
      { mark: { type: "rule", opacity: 0.55 },
        encoding: { x: number("low", x), x2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 55 }, encoding: { x: number(figure, x) } },
    ],
  };
}

const LANE = 7; // pixels between the lines of groups, from the right edge, where there is room
const LANES = 70; // pixels that they may take

function leaderboard(rows) {
  const lane = Math.min(LANE, LANES / (1.5 + Math.max(0, ...rows.flatMap((row) => row.lanes))));
  const picture = figuresWithIntervals("system", "score",
    { title: "score", scale: { zero: false, range: [0, { expr: `width - ${LANES}` }] },
      axis: { tickCount: 6, labelOverlap: true } },
    [nominal("system"), number("score", { format: ".4f" }),
      number("low", { format: ".4f" }), number("high", { format: ".4f" }),
      number("stderr", { format: ".4f", title: "standard error" }), number("rank"),
      nominal("ranks", { title: "95% interval of ranks" }), nominal("groups")]);
  picture.layer.push({ // a line beside the rows of each group
    transform: [{ flatten: ["lanes"] },
      { calculate: `width - ${LANES} + ${lane} * (datum.lanes + 1.5)`, as: "at" }],
    mark: { type: "tick", orient: "vertical", thickness: Math.min(3, lane / 2), size: 16 },
    encoding: { x: { field: "at", type: "quantitative", scale: null }, tooltip: null },
  });
  return picture;
}

const PICTURES = {
  leaderboard,
  scatter: (rows, { x, y, side }) => {
    const ends = [fenced(rows.map((row) => row.reference)), fenced(rows.map((row) => row.labels))];
    const low = Math.min(ends[0][0], ends[1][0]), high = Math.max(ends[0][1], ends[1][1]);
    const edge = 0.04 * (high - low || 1);
    const domain = [low - edge, high + edge];
    const within = (value) => Math.min(Math.max(value, low - edge / 2), high + edge / 2);
    const points = rows.map((row) => ({
      ...row, x: within(row.reference), y: within(row.labels),
      outside: [row.reference, row.labels].some((value) => value < low || value > high),
    }));
    const beyond = points.some((point) => point.outside) ? " (hollow: beyond the edge)" : "";
    const axis = (field, title) => number(field,
      { title: title + beyond, scale: { domain, nice: false, zero: false },
        axis: { tickCount: 6, format: ".2~f" } });
    const names = named(points, domain, side);
    const ofFar = either("far", "category");
    return {
      width: side, height: side,
      layer: [
        { data: { values: [{ x: domain[0], y: domain[0] }, { x: domain[1], y: domain[1] }] },
          mark: { type: "line", color: colour("soft"), strokeDash: [4, 4], strokeWidth: 1 },
          encoding: { x: axis("x", x), y: axis("y", y) } },
        { data: { values: names }, mark: { type: "rule", color: colour("soft"), strokeWidth: 0.6 },
          encoding: {
            x: axis("from_x", x), y: axis("from_y", y), x2: { field: "to_x" }, y2: { field: "to_y" },
          } },
        { data: { values: points },
          mark: { type: "point", size: 70, opacity: 0.8 },
          encoding: {
            x: axis("x", x), y: axis("y", y),
            shape: either("far", ["circle", "triangle-up"]),
            stroke: ofFar, fill: ofFar,
            fillOpacity: { condition: { test: "datum.outside", value: 0 }, value: 1 },
            tooltip: [nominal("system"), number("reference", { format: ".4f" }),
              number("labels", { format: ".4f" }),
              number("rank_x", { title: "rank by reference" }),
              number("rank_y", { title: "rank by labels" })],
          } },
        { data: { values: names },
          mark: { type: "text", align: "left", fontSize: 11 },
          encoding: { x: axis("x", x), y: axis("y", y), text: nominal("system") } },
      ],
    };
  },
  correlation: figuresWithIntervals("shown", "kendall",
    { title: "Kendall's tau-b", scale: { domainMax: 1 } },
    [nominal("label_set"), number("labelled_share", { format: ".0%" }), nominal("measure"),
      ...["kendall", "low", "high"].map((name) => number(name, { format: ".3f" }))]),
  coverage: (rows, { system }) => {
    const [low, high] = fenced(rows.map((row) => row.cover));
    const edge = 0.04 * (high - low || 1);
    const points = rows.map((row) => ({
      ...row, x: Math.min(Math.max(row.cover, low - edge / 2), high + edge / 2),
      outside: row.cover < low || row.cover > high,
    }));
    const is = (field) => `datum.${field} === ${JSON.stringify(system)}`;
    const ofChosen =
      { condition: { test: is("system"), value: colour("second") }, value: colour("accent") };
    const beyond = points.some((point) => point.outside) ? " (hollow: beyond the edge)" : "";
    return {
      height: ROW * new Set(rows.map((row) => row.system)).size,
      data: { values: points },
      encoding: {
        y: nominal("system", { sort: null, title: null, axis: {
          labelLimit: 170,
          labelFontWeight: { condition: { test: is("value"), value: "bold" }, value: "normal" },
        } }),
        x: number("x", {
          title: `share of the rubric covered${beyond}`, axis: { format: "%", tickCount: 6 },
          scale: { domain: [low - edge, high + edge], nice: false, zero: false },
        }),
        stroke: ofChosen,
      },
      layer: [
        { mark: { type: "line", strokeWidth: 1.5, opacity: 0.5 },
          encoding: { detail: nominal("system") } },
        { mark: { type: "point", size: 60 },
          encoding: {
            fill: ofChosen,
            fillOpacity: { condition: { test: "datum.outside", value: 0 }, value: 1 },
            shape: nominal("k", { legend: {
              title: "with the first passages of each ranking", orient: "top", titleLimit: 300,
              symbolFillColor: colour("accent"), symbolStrokeColor: colour("accent"),
            } }),
            tooltip: [nominal("system"), { field: "k", type: "ordinal", title: "passages" },
              number("cover", { format: ".4f" })],
          } },
      ],
    };
  },
  by_query: {
    height: 130,
    mark: { type: "bar" },
    encoding: {
      x: nominal("query_id", { sort: null, title: null, axis: null }),
      y: number("difference", { title: "difference" }),
      tooltip: [nominal("query_id", { title: "query" }), nominal("query", { title: "text" }),
        number("score", { format: ".4f" }), number("difference", { format: "+.4f" })],
    },
  },
};
