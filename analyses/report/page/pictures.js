// The pictures, in Vega-Lite: `draw` adds the rows. No colour is set but where it carries meaning:
// the page's style gives both, light and dark.
const nominal = (field, more) => ({ field, type: "nominal", ...more });
const number = (field, more) => ({ field, type: "quantitative", ...more });

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

const LANE = 7; // pixels between the lines of groups, from the right edge
const LANES = 70; // pixels that they may take

function leaderboard() {
  const picture = figuresWithIntervals("system", "score",
    { title: "score", scale: { zero: false, range: [0, { expr: `width - ${LANES}` }] },
      axis: { tickCount: 6, labelOverlap: true } },
    [nominal("system"), number("score", { format: ".4f" }),
      number("low", { format: ".4f" }), number("high", { format: ".4f" }),
      number("stderr", { format: ".4f", title: "standard error" }), number("rank"),
      nominal("ranks", { title: "95 % of ranks" }), nominal("groups")]);
  picture.layer.push({ // a line beside the rows of each group
    transform: [{ flatten: ["lanes"] },
      { calculate: `width - ${LANES} + ${LANE} * (datum.lanes + 1.5)`, as: "at" }],
    mark: { type: "tick", orient: "vertical", thickness: 3, size: 16 },
    encoding: { x: { field: "at", type: "quantitative", scale: null } },
  });
  return picture;
}

const PICTURES = {
  leaderboard: leaderboard(),
  scatter: {
    height: 340,
    mark: { type: "point", filled: true, size: 70, opacity: 0.8 },
    encoding: {
      x: number("x", { title: "by the reference", scale: { zero: false, padding: 12 } }),
      y: number("y", { title: "by the labels", scale: { zero: false, padding: 12 } }),
      shape: nominal("far", {
        legend: null, scale: { domain: [false, true], range: ["circle", "triangle-up"] },
      }),
      color: nominal("far", { legend: null, scale: { domain: [false, true], range: "category" } }),
      tooltip: [nominal("system"), number("x", { title: "reference", format: ".4f" }),
        number("y", { title: "labels", format: ".4f" }),
        number("rank_x", { title: "rank by reference" }),
        number("rank_y", { title: "rank by labels" })],
    },
  },
  correlation: figuresWithIntervals("shown", "kendall",
    { title: "Kendall's tau-b", scale: { domainMax: 1 } },
    [nominal("label_set"), number("labelled_share", { format: ".0%" }), nominal("measure"),
      ...["kendall", "low", "high"].map((name) => number(name, { format: ".3f" }))]),
  coverage: {
    height: 300,
    mark: { type: "line", point: true, opacity: 0.85 },
    encoding: {
      x: { field: "k", type: "ordinal", title: "k: passages of each ranking",
        axis: { labelAngle: 0 } },
      y: number("cover", { title: "share of the rubric covered", axis: { format: "%" } }),
      color: nominal("system", { sort: null, legend: null, scale: { scheme: "tableau20" } }),
      tooltip: [nominal("system"), { field: "k", type: "ordinal" },
        number("cover", { format: ".4f" })],
    },
  },
};
