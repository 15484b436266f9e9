package io.carillon.workflow;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import io.carillon.run.Retry;
import io.carillon.workflow.Flow.StepContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A workflow of named tasks that share a context: a JSON object. It begins as the input of the workflow. Each task
 * reads it, and what the task returns is recorded and put into it. Tasks that do not depend on each other are executed
 * in parallel. The result of the workflow is the context at its end. Immutable; each method returns a changed copy.
 *
 * <p>Tasks are executed in levels: a task is one level behind the last of the tasks that it is after. A level begins
 * when all tasks of the level before have ended.
 */
public final class Dag implements Workflow<Map<String, Object>, Map<String, Object>> {
    private final String name;
    private final List<Task> tasks;

    private record Task(String name, int level, After after, TaskCode code) {}

    private Dag(String name, List<Task> tasks) {
        this.name = name;
        this.tasks = tasks;
    }

    /** The code of a task. It is executed as a step. */
    @FunctionalInterface
    public interface TaskCode {
        /** Executes the task. What it returns, if not null, is recorded and put into the context. */
        @Nullable
        Map<String, Object> run(Map<String, Object> context, StepContext step) throws Exception;
    }

    /** Returns a workflow of this name without tasks. */
    public static Dag named(String name) {
        return new Dag(Names.check("workflow", name), List.of());
    }

    /** Returns the settings of a task that begins when these tasks have ended. */
    public static After after(String... tasks) {
        return new After(
                Collections.unmodifiableSet(new LinkedHashSet<>(List.of(tasks))), Retry.defaults(), all -> true);
    }

    /** Adds a task that is after no other. */
    public Dag task(String task, TaskCode code) {
        return task(task, after(), code);
    }

    /**
     * Adds a task. The tasks that it is after must have been added before, so there are no cycles.
     *
     * @throws CarillonException if a task has this name already, or if one that it is after does not exist
     */
    public Dag task(String task, After after, TaskCode code) {
        Names.check("task", task);
        if (task.matches("level-[0-9]+"))
            throw invalid("task '%s' of '%s' has the name of a level. Choose another name.".formatted(task, name));
        if (find(task) != null) throw invalid("task '%s' of '%s' exists already.".formatted(task, name));
        int level = 0;
        for (String before : after.tasks()) {
            Task known = find(before);
            if (known == null)
                throw invalid("task '%s' of '%s' is after '%s', which is not a task that was added before. Known: %s."
                        .formatted(
                                task,
                                name,
                                before,
                                tasks.stream().map(Task::name).toList()));
            level = Math.max(level, known.level() + 1);
        }
        List<Task> all = new ArrayList<>(tasks);
        all.add(new Task(task, level, after, code));
        return new Dag(name, List.copyOf(all));
    }

    private @Nullable Task find(String task) {
        return tasks.stream().filter(one -> one.name().equals(task)).findFirst().orElse(null);
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }

    /** Returns the type under which this workflow is registered. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public WorkflowType<Map<String, Object>> type() {
        return WorkflowType.of(name, (Class) Map.class);
    }

    @Override
    public Map<String, Object> run(@Nullable Map<String, Object> input, Flow flow) {
        Map<String, Object> context = new LinkedHashMap<>(input == null ? Map.of() : input);
        int levels = tasks.stream().mapToInt(Task::level).max().orElse(-1) + 1;
        for (int level = 0; level < levels; level++) {
            Map<String, Object> seen = Collections.unmodifiableMap(new LinkedHashMap<>(context));
            List<Branch<Map<String, Object>>> branches = new ArrayList<>();
            for (Task task : tasks)
                if (task.level() == level && task.after().condition().test(seen)) branches.add(branch(task, seen));
            if (branches.isEmpty()) continue;
            for (Map<String, Object> changes : flow.parallel("level-" + (level + 1), branches))
                if (changes != null) context.putAll(changes);
        }
        return context;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Branch<Map<String, Object>> branch(Task task, Map<String, Object> context) {
        Step<Map<String, Object>> step =
                Step.of(task.name(), (Class) Map.class).retry(task.after().retry());
        return Branch.of(step, running -> task.code().run(context, running));
    }

    /** When a task begins, and how it is retried. Immutable; each method returns a changed copy. */
    public static final class After {
        private final Set<String> tasks;
        private final Retry retry;
        private final Predicate<Map<String, Object>> condition;

        private After(Set<String> tasks, Retry retry, Predicate<Map<String, Object>> condition) {
            this.tasks = tasks;
            this.retry = retry;
            this.condition = condition;
        }

        /** Sets how often and after which delays the task is tried. The default is {@link Retry#defaults()}. */
        public After retry(Retry retry) {
            return new After(tasks, retry, condition);
        }

        /**
         * Executes the task only if the context satisfies this condition when the tasks before have ended. A task that
         * is left out changes nothing; the tasks after it are executed. The condition must depend on the context only.
         */
        public After when(Predicate<Map<String, Object>> condition) {
            return new After(tasks, retry, condition);
        }

        Set<String> tasks() {
            return tasks;
        }

        Retry retry() {
            return retry;
        }

        Predicate<Map<String, Object>> condition() {
            return condition;
        }
    }
}
