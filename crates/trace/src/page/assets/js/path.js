// The path of a run up to a step: how often each node and edge was visited.

function pathUntil(run, last) {
  const visits = new Map();
  const edges = new Map();
  const add = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);

  for (let index = 0; index <= last && index < run.steps.length; index += 1) {
    const step = run.steps[index];
    const next = run.steps[index + 1];
    add(visits, step.place);
    for (const around of placesAround(step)) {
      if (!visits.has(around)) visits.set(around, 0);
    }

    const hasLeft = next ? index < last : step.ends;
    if (!hasLeft || step.action === undefined) continue;
    add(edges, edgeKey(step.place, step.action));
    // The action with which a flow ends is that of the node around it.
    for (const around of placesAround(step)) {
      if (!next?.place.startsWith(`${around}/`)) add(edges, edgeKey(around, step.action));
    }
  }
  return { visits, edges, current: run.steps[last]?.place };
}

/** Returns the places of the nodes that contain the step. */
function placesAround(step) {
  const parts = step.place.split('/');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Returns the graph of a strategy's table, and the walk of its stages up to a moment. */
function tableGraph(table) {
  const nodes = table.stages.map((stage) => ({
    name: stage.name,
    kind: stage.is_final ? 'final' : 'node',
  }));
  const edges = table.stages.flatMap((stage) =>
    (stage.next ?? []).map((to) => ({ from: stage.name, action: to, to })),
  );
  return {
    name: table.strategy,
    start: table.start ?? table.stages[0]?.name,
    nodes,
    edges,
  };
}

function stageWalk(run, last) {
  const visits = new Map();
  const edges = new Map();
  const lastOf = new Map();
  let current;
  for (const stage of run.stages) {
    if ((stage.step?.index ?? 0) > last) break;
    const key = escapeName(stage.stage);
    visits.set(key, (visits.get(key) ?? 0) + 1);
    const parent = stage.parents.at(-1);
    const from = lastOf.get(parent);
    if (from !== undefined) edges.set(edgeKey(escapeName(from), stage.stage), 1);
    lastOf.set(stage.number, stage.stage);
    current = key;
  }
  return { visits, edges, current };
}
