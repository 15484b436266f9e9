package io.carillon.internal.json;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.introspect.AnnotatedClass;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import com.fasterxml.jackson.module.paramnames.ParameterNamesModule;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Year;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Jackson 2.15 or later, with the modules that Jackson 3 contains, and set to do what {@link Jackson3} does. */
final class Jackson2 implements JsonLibrary {
    static {
        // As in Jackson3.
        Objects.requireNonNull(JsonLocation.NA);
    }

    private final JsonMapper mapper = JsonMapper.builder(JsonFactory.builder()
                    // The text of a payload is not part of an error.
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxStringLength(MAX_TEXT_LENGTH)
                            .maxNumberLength(MAX_NUMBER_LENGTH)
                            .build())
                    .build())
            // Before the modules, which add introspectors of their own.
            .annotationIntrospector(new RecordOrder())
            .addModules(new JavaTimeModule(), new Jdk8Module(), new ParameterNamesModule())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(
                    DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE,
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                    DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                    DeserializationFeature.READ_ENUMS_USING_TO_STRING)
            .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
            .disable(
                    SerializationFeature.FAIL_ON_EMPTY_BEANS,
                    SerializationFeature.WRITE_DATES_AS_TIMESTAMPS,
                    SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS,
                    SerializationFeature.WRITE_ENUMS_USING_TO_STRING)
            .enable(
                    MapperFeature.ALLOW_VOID_VALUED_PROPERTIES,
                    MapperFeature.BLOCK_UNSAFE_POLYMORPHIC_BASE_TYPES,
                    MapperFeature.SORT_PROPERTIES_ALPHABETICALLY,
                    MapperFeature.USE_STD_BEAN_NAMING)
            .disable(
                    MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS,
                    MapperFeature.DEFAULT_VIEW_INCLUSION,
                    MapperFeature.SORT_CREATOR_PROPERTIES_FIRST,
                    MapperFeature.USE_GETTERS_AS_SETTERS)
            .visibility(PropertyAccessor.CREATOR, Visibility.ANY)
            .visibility(PropertyAccessor.SETTER, Visibility.ANY)
            .withConfigOverride(Year.class, as -> as.setFormat(JsonFormat.Value.forShape(JsonFormat.Shape.STRING)))
            .build();

    @Override
    public byte[] write(Object value) throws JsonFailure {
        // To a writer: the generator of bytes escapes characters outside the basic plane, which Jackson 3 does not.
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = new DepthLimit(mapper.createGenerator(text))) {
            mapper.writeValue(generator, value);
        } catch (IOException failure) {
            throw failure(failure);
        }
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text.getBuffer()));
            byte[] json = new byte[bytes.remaining()];
            bytes.get(json);
            return json;
        } catch (CharacterCodingException surrogate) {
            throw JsonFailure.of("it contains an unpaired surrogate", surrogate);
        }
    }

    @Override
    public <T> @Nullable T read(byte[] json, Class<T> type) throws JsonFailure {
        try {
            return mapper.readValue(json, type);
        } catch (IOException failure) {
            throw failure(failure);
        }
    }

    @Override
    public @Nullable Object toTree(Object value) throws JsonFailure {
        try {
            return mapper.convertValue(value, Object.class);
        } catch (IllegalArgumentException failure) {
            throw JsonFailure.of(String.valueOf(failure.getMessage()), failure);
        }
    }

    private static JsonFailure failure(IOException failure) {
        // Serializers of beans wrap the failure of the generator.
        for (Throwable cause = failure; cause != null; cause = cause.getCause())
            if (cause instanceof DepthLimit.Exceeded tooDeep)
                return JsonFailure.tooDeep(String.valueOf(tooDeep.getOriginalMessage()), failure);
        String message = failure instanceof JsonProcessingException json ? json.getOriginalMessage() : null;
        return JsonFailure.of(message == null ? String.valueOf(failure.getMessage()) : message, failure);
    }

    /** As in {@link Jackson3}. */
    private static final class RecordOrder extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public String @Nullable [] findSerializationPropertyOrder(AnnotatedClass type) {
            String[] annotated = super.findSerializationPropertyOrder(type);
            return annotated == null ? RecordComponents.names(type.getRawType()) : annotated;
        }
    }
}
