package io.carillon.workflow;

import io.carillon.internal.value.Names;
import io.carillon.run.Retry;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A step of a workflow: its name, the type of its result, and how it is retried. A workflow executes each step once; a
 * step that is needed several times gets a key each time. Immutable; each method returns a changed copy.
 */
public final class Step<T> {
    private final String name;
    private final Class<T> resultType;
    private final @Nullable String key;
    private final Retry retry;

    private Step(String name, Class<T> resultType, @Nullable String key, Retry retry) {
        this.name = name;
        this.resultType = resultType;
        this.key = key;
        this.retry = retry;
    }

    /** Returns a step with {@link Retry#defaults()}. For a step without a result, the type is {@code Void.class}. */
    public static <T> Step<T> of(String name, Class<T> resultType) {
        return new Step<>(Names.check("step", name), resultType, null, Retry.defaults());
    }

    /** Sets the key that distinguishes this call of the step from others in the same workflow. */
    public Step<T> key(String key) {
        return new Step<>(name, resultType, Names.checkKey("step key", key), retry);
    }

    /** Sets how often and after which delays the step is tried. */
    public Step<T> retry(Retry retry) {
        return new Step<>(name, resultType, key, retry);
    }

    /** Returns the name of the step. */
    public String name() {
        return name;
    }

    /** Returns the class of the result. */
    public Class<T> resultType() {
        return resultType;
    }

    /** Returns the key; null if it has none. */
    public @Nullable String key() {
        return key;
    }

    /** Returns how often and after which delays the step is tried. */
    public Retry retry() {
        return retry;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Step<?> that
                && name.equals(that.name)
                && resultType.equals(that.resultType)
                && Objects.equals(key, that.key)
                && retry.equals(that.retry);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, resultType, key, retry);
    }

    @Override
    public String toString() {
        return "Step[name=%s, resultType=%s, key=%s, retry=%s]".formatted(name, resultType, key, retry);
    }
}
