package io.carillon.event;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** An event to be published: its type, its data, and options. Immutable: each method returns a changed copy. */
public final class NewEvent<T> {
    private final EventType<T> type;
    private final T data;
    private final @Nullable String key;
    private final @Nullable Long expectedVersion;
    private final @Nullable String publishId;

    private NewEvent(
            EventType<T> type,
            T data,
            @Nullable String key,
            @Nullable Long expectedVersion,
            @Nullable String publishId) {
        this.type = type;
        this.data = data;
        this.key = key;
        this.expectedVersion = expectedVersion;
        this.publishId = publishId;
    }

    static <T> NewEvent<T> of(EventType<T> type, T data) {
        return new NewEvent<>(type, requireNonNull(data, "data"), null, null, null);
    }

    /**
     * Sets the key, such as the id of the order that the event is about: 1 to 200 characters. A subscription in order
     * delivers the events of one key one after the other.
     */
    public NewEvent<T> key(String key) {
        return new NewEvent<>(type, data, Names.checkKey("event key", key), expectedVersion, publishId);
    }

    /**
     * Publishes the event only if its key has this version, which is the number of its events so far: 0 for the first.
     * Otherwise the result is a {@link PublishResult.VersionConflict}. The topic must have versions.
     */
    public NewEvent<T> expectedVersion(long version) {
        if (version < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "expectedVersion must be at least 0 (was %d).".formatted(version));
        if (!type.topic().versioned())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "expectedVersion needs a topic with versions: declare the topic '%s' with withVersions()."
                            .formatted(type.topic().name()));
        return new NewEvent<>(type, data, key, version, publishId);
    }

    /**
     * Gives the event an id of the publisher: 1 to 200 characters. If an event of the project with this id was
     * published less than 24 hours ago, nothing is stored, and the result is a {@link PublishResult.Duplicate}. So a
     * publish whose answer was lost can be repeated. After 48 hours at the latest the id can be used again.
     */
    public NewEvent<T> publishId(String id) {
        return new NewEvent<>(type, data, key, expectedVersion, Names.checkKey("publish id", id));
    }

    /** Returns the type of the event. */
    public EventType<T> type() {
        return type;
    }

    /** Returns the data of the event. */
    public T data() {
        return data;
    }

    /** Returns the key; null if the event has none. */
    public @Nullable String key() {
        return key;
    }

    /** Returns the version that the key must have; empty if any version is allowed. */
    public OptionalLong expectedVersion() {
        return expectedVersion == null ? OptionalLong.empty() : OptionalLong.of(expectedVersion);
    }

    /** Returns the id that the publisher gave the event; null if it has none. */
    public @Nullable String publishId() {
        return publishId;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NewEvent<?> that
                && type.equals(that.type)
                && data.equals(that.data)
                && Objects.equals(key, that.key)
                && Objects.equals(expectedVersion, that.expectedVersion)
                && Objects.equals(publishId, that.publishId);
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, data, key, expectedVersion, publishId);
    }

    @Override
    public String toString() {
        // Data is user data, which must not appear in logs.
        return "NewEvent[" + type.topic().name() + "/" + type.name() + "]";
    }
}
