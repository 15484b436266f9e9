package io.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Enqueue;
import io.carillon.run.Priority;
import io.carillon.run.Retry;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.workflow.Step;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Option values are immutable, compared by their content, and can get a further option without breaking callers. */
class OptionValuesTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** A method that returns a changed copy, called with a value that the sample does not have. */
    private record Change<T>(String method, String accessor, UnaryOperator<T> call) {}

    private record Sample<T>(Class<T> type, Supplier<T> create, List<Change<T>> changes) {
        Sample(Class<T> type, Supplier<T> create) {
            this(type, create, new ArrayList<>());
        }

        Sample<T> with(String method, String accessor, UnaryOperator<T> call) {
            changes.add(new Change<>(method, accessor, call));
            return this;
        }

        @Override
        public String toString() {
            return type.getSimpleName();
        }
    }

    static Stream<Sample<?>> samples() {
        return Stream.of(
                new Sample<>(
                                HandlerOptions.class,
                                () -> HandlerOptions.defaults().queue("mail").noRetryOn(IOException.class))
                        .with("queue(String)", "queue", one -> one.queue("other"))
                        .with("priority(Priority)", "priority", one -> one.priority(Priority.LOW))
                        .with("timeout(Duration)", "timeout", one -> one.timeout(MINUTE))
                        .with("retry(Retry)", "retry", one -> one.retry(Retry.none()))
                        .with("noRetryOn(Class[])", "noRetryOn", one -> one.noRetryOn(IllegalStateException.class))
                        .with("keepPayload(boolean)", "keepPayload", one -> one.keepPayload(true)),
                new Sample<>(
                                ScheduleOptions.class,
                                () -> ScheduleOptions.defaults().queue("mail").priority(Priority.HIGH))
                        .with("missed(MissedPolicy)", "policies", one -> one.missed(MissedPolicy.SKIP))
                        .with("overlap(OverlapPolicy)", "policies", one -> one.overlap(OverlapPolicy.SKIP))
                        .with("grace(Duration)", "policies", one -> one.grace(MINUTE))
                        .with("catchUp(Duration)", "policies", one -> one.catchUp(MINUTE))
                        .with("missedCap(int)", "policies", one -> one.missedCap(7))
                        .with("missedSpread(Duration)", "policies", one -> one.missedSpread(MINUTE))
                        .with("pauseAfter(int)", "policies", one -> one.pauseAfter(3))
                        .with("queue(String)", "queue", one -> one.queue("other"))
                        .with("priority(Priority)", "priority", one -> one.priority(Priority.LOW))
                        .with("retry(Retry)", "retry", one -> one.retry(Retry.none()))
                        .with("timeout(Duration)", "timeout", one -> one.timeout(MINUTE)),
                new Sample<>(
                                Enqueue.class,
                                () -> Enqueue.afterRun(new RunId(new UUID(3, 4)))
                                        .priority(Priority.HIGH)
                                        .uniqueKey("k")
                                        .queue("mail"))
                        .with("onFailure(OnFailure)", "due", one -> one.onFailure(Enqueue.OnFailure.WAIT))
                        .with("priority(Priority)", "priority", one -> one.priority(Priority.LOW))
                        .with("uniqueKey(String)", "uniqueKey", one -> one.uniqueKey("other"))
                        .with("uniqueKey(String,Duration)", "keyWindow", one -> one.uniqueKey("k", MINUTE))
                        .with("queue(String)", "queue", one -> one.queue("other"))
                        .with("retry(Retry)", "retry", one -> one.retry(Retry.none()))
                        .with("timeout(Duration)", "timeout", one -> one.timeout(MINUTE))
                        .with("concurrencyKey(String)", "keyLimit", one -> one.concurrencyKey("c"))
                        .with("concurrencyKey(String,int)", "keyLimit", one -> one.concurrencyKey("c", 2))
                        .with("fifoKey(String)", "keyLimit", one -> one.fifoKey("f"))
                        .with("rateKey(String,int,Duration)", "keyLimit", one -> one.rateKey("r", 2, MINUTE)),
                new Sample<>(Step.class, () -> Step.of("charge", String.class))
                        .with("key(String)", "key", one -> one.key("k"))
                        .with("retry(Retry)", "retry", one -> one.retry(Retry.none())),
                new Sample<>(Retry.class, () -> Retry.exponential(MINUTE))
                        .with("factor(double)", "factor", one -> one.factor(3))
                        .with("cap(Duration)", "cap", one -> one.cap(Duration.ofDays(1)))
                        .with("attempts(int)", "attempts", one -> one.attempts(3))
                        .with("jitter(double)", "jitter", one -> one.jitter(0.5)),
                new Sample<>(RunFilter.class, () -> RunFilter.all().queue("mail"))
                        .with("queue(String)", "queue", one -> one.queue("other"))
                        .with("handler(String)", "handler", one -> one.handler("mail.send"))
                        .with("state(RunState)", "state", one -> one.state(RunState.DEAD))
                        .with("limit(int)", "limit", one -> one.limit(7)),
                new Sample<>(RunQuery.class, () -> RunQuery.of(RunFilter.all().queue("mail")))
                        .with("schedule(UUID)", "schedule", one -> one.schedule(new UUID(1, 2)))
                        .with("before(RunId)", "before", one -> one.before(new RunId(new UUID(3, 4))))
                        .with("notQueue(String)", "notQueue", one -> one.notQueue("mail"))
                        .with("notHandler(String)", "notHandler", one -> one.notHandler("mail.send"))
                        .with("notState(RunState)", "notState", one -> one.notState(RunState.DEAD))
                        .with("from(Instant)", "from", one -> one.from(Instant.EPOCH))
                        .with("to(Instant)", "to", one -> one.to(Instant.EPOCH))
                        .with("error(String)", "error", one -> one.error("reset"))
                        .with("payload(String)", "payload", one -> one.payload("ann"))
                        .with("workflow(boolean)", "workflow", one -> one.workflow(true)));
    }

    @ParameterizedTest
    @MethodSource("samples")
    <T> void two_values_built_alike_are_equal(Sample<T> sample) {
        T value = sample.create().get();

        assertThat(value)
                .isEqualTo(sample.create().get())
                .hasSameHashCodeAs(sample.create().get());
        assertThat(value).isNotEqualTo(null).isNotEqualTo("a text");
        for (Change<T> change : sample.changes()) {
            T changed = change.call().apply(value);
            T alike = change.call().apply(sample.create().get());

            assertThat(changed).as(change.method()).isEqualTo(alike).hasSameHashCodeAs(alike);
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    <T> void a_change_is_a_copy_that_differs_in_one_accessor(Sample<T> sample) throws Exception {
        for (Change<T> change : sample.changes()) {
            T value = sample.create().get();
            Map<String, Object> before = accessors(value);
            T changed = change.call().apply(value);

            assertThat(changed).as(change.method()).isNotEqualTo(value);
            assertThat(differences(before, accessors(changed)))
                    .as(change.method())
                    .containsExactly(change.accessor());
            assertThat(accessors(value)).as("receiver of " + change.method()).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    <T> void the_text_names_every_accessor_and_its_value(Sample<T> sample) throws Exception {
        T value = sample.create().get();
        List<String> parts = new ArrayList<>();
        accessors(value).forEach((name, content) -> parts.add(name + "=" + content));

        assertThat(value.toString()).startsWith(sample + "[").contains(parts);
    }

    @ParameterizedTest
    @MethodSource("samples")
    <T> void the_class_is_final_without_a_constructor_and_every_change_is_tested(Sample<T> sample) {
        Set<String> methods = instanceMethods(sample.type())
                .filter(method -> method.getReturnType() == sample.type())
                .map(OptionValuesTest::signature)
                .collect(Collectors.toSet());

        assertThat(sample.type()).isFinal();
        assertThat(sample.type().getConstructors()).isEmpty();
        assertThat(sample.changes().stream().map(Change::method)).containsExactlyInAnyOrderElementsOf(methods);
    }

    private static Map<String, Object> accessors(Object value) throws ReflectiveOperationException {
        Map<String, Object> contents = new TreeMap<>();
        for (Method method : instanceMethods(value.getClass()).toList())
            if (method.getParameterCount() == 0
                    && !Set.of("hashCode", "toString").contains(method.getName()))
                contents.put(method.getName(), method.invoke(value));
        return contents;
    }

    private static List<String> differences(Map<String, Object> before, Map<String, Object> after) {
        return before.keySet().stream()
                .filter(name -> !Objects.equals(before.get(name), after.get(name)))
                .toList();
    }

    private static Stream<Method> instanceMethods(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers())
                        && !Modifier.isStatic(method.getModifiers())
                        && !method.isSynthetic());
    }

    private static String signature(Method method) {
        return Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(",", method.getName() + "(", ")"));
    }
}
