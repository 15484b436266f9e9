package io.carillon.event;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.EventHeaders;
import io.carillon.internal.value.Names;
import java.util.HashMap;
import java.util.Map;
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
    private final Map<String, String> headers;

    private NewEvent(
            EventType<T> type,
            T data,
            @Nullable String key,
            @Nullable Long expectedVersion,
            @Nullable String publishId,
            Map<String, String> headers) {
        this.type = type;
        this.data = data;
        this.key = key;
        this.expectedVersion = expectedVersion;
        this.publishId = publishId;
        this.headers = headers;
    }

    static <T> NewEvent<T> of(EventType<T> type, T data) {
        return new NewEvent<>(type, requireNonNull(data, "data"), null, null, null, Map.of());
    }

    /**
     * Sets the key, such as the id of the order that the event is about: 1 to 200 characters. A subscription in order
     * delivers the events of one key one after the other.
     */
    public NewEvent<T> key(String key) {
        return new NewEvent<>(type, data, Names.checkKey("event key", key), expectedVersion, publishId, headers);
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
        return new NewEvent<>(type, data, key, version, publishId, headers);
    }

    /**
     * Gives the event an id of the publisher: 1 to 200 characters. If an event of the project with this id was
     * published less than 24 hours ago, nothing is stored, and the result is a {@link PublishResult.Duplicate}. So a
     * publish whose answer was lost can be repeated. After 48 hours at the latest the id can be used again.
     */
    public NewEvent<T> publishId(String id) {
        return new NewEvent<>(type, data, key, expectedVersion, Names.checkKey("publish id", id), headers);
    }

    /**
     * Adds a header, or replaces the one with this name: information beside the data, such as a trace or a tenant.
     * Subscribers read it with {@link Event#headers()}. An event may have 16 headers, with at most 4,096 characters
     * together. A header must not contain a secret.
     *
     * @param name 1 to 100 characters of a-z, 0-9, dot, underscore and hyphen; {@code content-type} and names that
     *     start with {@code ce-} or {@code ce_} are reserved
     * @param value 1 to 1,000 printable ASCII characters, without spaces at its ends
     */
    public NewEvent<T> header(String name, String value) {
        Map<String, String> more = new HashMap<>(headers);
        more.put(requireNonNull(name, "name"), requireNonNull(value, "value"));
        return headers(more);
    }

    /** Replaces all headers, see {@link #header}. */
    public NewEvent<T> headers(Map<String, String> all) {
        return new NewEvent<>(type, data, key, expectedVersion, publishId, EventHeaders.check(all));
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

    /** Returns the headers, by name. */
    public Map<String, String> headers() {
        return headers;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof NewEvent<?> that
                && type.equals(that.type)
                && data.equals(that.data)
                && Objects.equals(key, that.key)
                && Objects.equals(expectedVersion, that.expectedVersion)
                && Objects.equals(publishId, that.publishId)
                && headers.equals(that.headers);
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, data, key, expectedVersion, publishId, headers);
    }

    @Override
    public String toString() {
        // Data is user data, which must not appear in logs.
        return "NewEvent[" + type.topic().name() + "/" + type.name() + "]";
    }
}
